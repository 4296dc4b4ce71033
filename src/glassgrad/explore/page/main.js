// What is seen, as a file: drawn again by a pen that writes SVG, or on a finer canvas.
class SvgPen {
  kept = []; m = [1, 0, 0]; dash = ""; globalAlpha = 1;
  root = document.querySelector("svg").cloneNode();
  save() { this.kept.push({...this}); }
  restore() { Object.assign(this, this.kept.pop()); }
  setTransform(s, b, c, t, x, y) { this.m = [s, x, y]; }
  translate(x, y) { const [s, u, v] = this.m; this.m = [s, u + s * x, v + s * y]; }
  scale(f) { const [s, x, y] = this.m; this.m = [s * f, x, y]; }
  setLineDash(dash) { this.dash = dash; }
  beginPath() { this.d = ""; }
  closePath() { this.d += "Z"; }
  to(letter, ...p) { this.d += letter + p.map(v => +v.toFixed(1)); this.now = p.slice(-2); }
  moveTo(...p) { this.to("M", ...p); }
  lineTo(...p) { this.to("L", ...p); }
  bezierCurveTo(...p) { this.to("C", ...p); }
  arcTo(x, y, u, v, r) {
    const near = (a, b) => { const f = r / (Math.hypot(a - x, b - y) || 1); return [x + (a - x) * f, y + (b - y) * f]; };
    this.to("L", ...near(...this.now)); this.to("Q", x, y, ...near(u, v));
  }
  arc(x, y, r) { this.roundRect(x - r, y - r, 2 * r, 2 * r, r); }
  roundRect(x, y, w, h, r) {
    r = Math.min(r, w / 2, h / 2);
    const turn = (u, v) => `a${r},${r} 0 0 1 ${u},${v}`;
    this.to("M", x + r, y); this.d += `h${w - 2 * r}${turn(r, r)}v${h - 2 * r}${turn(-r, r)}h${2 * r - w}${turn(-r, -r)}v${2 * r - h}${turn(r, -r)}Z`;
  }
  put(tag, set, words = "") {
    const node = document.createElementNS(this.root.namespaceURI, tag), [s, x, y] = this.m.map(v => +v.toFixed(3));
    mark(node, {...set, transform: `translate(${x},${y})scale(${s})`, opacity: this.globalAlpha});
    node.textContent = words.replace(/[^ -\ufffd]/g, " "); this.root.append(node);
  }
  fill() { this.put("path", {d: this.d, fill: this.fillStyle}); }
  stroke() { this.put("path", {d: this.d, fill: "none", stroke: this.strokeStyle, "stroke-width": this.lineWidth, "stroke-dasharray": this.dash}); }
  fillRect(x, y, w, h) { this.put("rect", {x, y, width: w, height: h, fill: this.fillStyle}); }
  fillText(words, x, y) { const [, bold, size] = this.font.match(/(600 )?([\d.]+)/); this.put("text", {x, y, fill: this.fillStyle, "font-size": size, "font-weight": bold || 400, "text-anchor": this.textAlign === "center" ? "middle" : "start"}, words); }
  measureText(words) { brush.font = this.font; return brush.measureText(words); }
}
const brush = pen, mark = (node, set) => { for (const name in set) node.setAttribute(name, set[name]); };

/** The part of the graph in sight, with a margin: an SVG element, or a canvas. */
function picture(form) {
  const was = [W, H, tx, ty], side = D.small ? 16 + 60 * k : 16, x = Math.max(0, tx - side), y = Math.max(0, ty - 16);
  W = Math.ceil(Math.min(W, tx + extent.w * k + side) - x); H = Math.ceil(Math.min(H, ty + extent.h * k + 16) - y); tx -= x; ty -= y;
  const svg = form === "svg", board = el("canvas");
  try {
    fine = svg ? 1 : Math.max(2, 2400 / Math.max(W, H)); board.width = W * fine; board.height = H * fine;
    pen = svg ? new SvgPen() : board.getContext("2d");
    paint(performance.now());
    if (!svg) return board;
    mark(pen.root, {width: W, height: H, viewBox: `0 0 ${W} ${H}`, "font-family": FONT});
    return pen.root;
  } finally { pen = brush; fine = 0; [W, H, tx, ty] = was; draw(); }
}
function save(form) {
  const drawn = picture(form), give = blob => el("a", {href: URL.createObjectURL(blob), download: `${D.title.replace(/[^\p{L}\d]+/gu, "-") || "graph"}-${step}.${form}`}).click();
  form === "svg" ? give(new Blob([new XMLSerializer().serializeToString(drawn)])) : drawn.toBlob(give);
}
// The beginning: events, keys, the address, and what tests read.
let spoken = "";
function tell() {                  // the address names what is looked at
  const parts = [];
  if (selected != null) parts.push(selected >= 0 ? B.node[selected] >= 0 ? "node=" + B.node[selected] : "box=" + selected : "card=" + -selected);
  if (step !== resting) parts.push("step=" + step);
  if (colour !== "kind") parts.push("colour=" + colour);
  const hash = parts.join("&");
  if (hash === spoken) return;
  spoken = hash;
  try { history.replaceState(null, "", hash ? "#" + hash : location.pathname + location.search); } catch { /* inside a notebook's frame there is no address */ }
}
function heed(hash) {              // and is heeded
  const wanted = new URLSearchParams(hash.replace(/^#/, ""));
  let u = null;
  if (wanted.has("node")) { const n = +wanted.get("node"), at = B.node.indexOf(n), i = n < 0 ? -1 : at < 0 ? B.sink.indexOf(n) : at; if (i >= 0) u = i; }
  if (wanted.has("box") && B.kind[+wanted.get("box")] !== undefined) u = +wanted.get("box");
  if (wanted.has("card") && G.kind[+wanted.get("card")] && +wanted.get("card") > 0) u = -wanted.get("card");
  if (wanted.has("colour") && [...$("colour").options].some(o => o.value === wanted.get("colour"))) { $("colour").value = wanted.get("colour"); recolour(); }
  goTo(wanted.has("step") && isFinite(+wanted.get("step")) ? +wanted.get("step") : resting);
  if (u !== null) select(u);
}
function recolour() {
  colour = $("colour").value; range();
  const box = $("legend"); box.hidden = colour === "kind";
  if (!box.hidden) {
    const unit = v => colour === "bytes" ? size(v) : colour === "ms" ? round(v) + " ms" : round(v), label = $("colour").selectedOptions[0].textContent;
    box.replaceChildren(el("div", {}, scale.from === undefined ? "No " + label + " is known at this level" : label));
    if (scale.from !== undefined) box.append(el("div", {class: "ramp", style: {background: "linear-gradient(90deg," + RAMP.map(c => `rgb(${c})`).join(",") + ")"}}), el("div", {class: "ends"}, el("span", {}, unit(scale.from)), el("span", {}, unit(scale.to))));
  }
  draw(); tell();
}
function setTheme(name) { document.documentElement.dataset.theme = name; readTheme(); if (D) draw(); }
function drawer(id, button, on = !$(id).classList.contains("shown")) {
  for (const [other, its] of [["left", "menu"], ["right", "inspect"]]) { const shown = other === id && on; $(other).classList.toggle("shown", shown); $(its).setAttribute("aria-expanded", String(shown)); }
}
const KEYS = [["↑ ↓ ← →", "go to the next node in that direction"], ["Enter", "open or close a card; open the details"], ["Backspace", "go to the card around"], ["/", "search (Enter: first result)"], ["Space", "play or pause"], [", .", "one step back, one step on"], ["Home End", "before the build, after the backward pass"],
  ["f", "fit to the window"], ["+ −", "zoom"], ["e c", "expand all, collapse all"], ["t", "top to bottom or left to right"], ["d", "light or dark"], ["Esc", "select nothing"]];

function listen() {
  const click = (id, act) => $(id).addEventListener("click", act);
  click("menu", () => drawer("left")); click("inspect", () => drawer("right"));
  click("turn", () => turn()); click("unfold", () => openAll(true)); click("fold", () => openAll(false)); click("fit", () => fit());
  click("theme", () => setTheme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  click("closer", () => zoomAt(1.3)); click("farther", () => zoomAt(1 / 1.3));
  click("start", () => { play(false); goTo(0); }); click("end", () => { play(false); goTo(timeline.length); }); click("back", () => { play(false); goTo(step - 1, false, true); }); click("next", () => { play(false); goTo(step + 1, true, true); }); click("play", () => play());
  click("help", () => { const box = $("keys"); box.hidden = !box.hidden; if (!box.hidden) box.replaceChildren(el("table", {}, el("tbody", {}, KEYS.map(([a, b]) => el("tr", {}, el("td", {}, a.split(" ").map(s => [el("kbd", {}, s), " "])), el("td", {}, b)))))); });
  $("scrub").addEventListener("input", () => { play(false); goTo(+$("scrub").value, false, true); });
  $("colour").addEventListener("change", recolour);
  $("export").addEventListener("change", e => { const form = e.target.value; e.target.value = ""; save(form); });
  let waiting = 0, last = [];
  $("search").addEventListener("input", () => { clearTimeout(waiting); waiting = setTimeout(() => { last = search($("search").value); }, B.kind.length > 20000 ? 250 : 40); });
  $("search").addEventListener("keydown", e => {
    if (e.key === "Enter") { clearTimeout(waiting); last = search($("search").value); if (last.length) { const at = last.indexOf(selected), to = last[(at + 1) % last.length]; select(to); } }
    if (e.key === "Escape") { $("search").value = ""; last = search(""); canvas.focus(); }
  });
  addEventListener("hashchange", () => { if (location.hash.slice(1) !== spoken) heed(location.hash); });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", e => setTheme(e.matches ? "dark" : "light"));
  new ResizeObserver(() => { resize(); if (selected != null && !inSight(spot.get(selected))) centre(selected); draw(); }).observe(canvas.parentElement);

  const fingers = new Map(); let moved = 0, spread0 = 0;
  canvas.addEventListener("pointerdown", e => { canvas.setPointerCapture(e.pointerId); fingers.set(e.pointerId, [e.offsetX, e.offsetY]); moved = 0; glide = null; canvas.focus({preventScroll: true}); });
  canvas.addEventListener("pointermove", e => {
    const was = fingers.get(e.pointerId);
    if (!was) { const h = hit(e.offsetX, e.offsetY); canvas.classList.toggle("over", Boolean(h && (h.stub || !h.item.open || h.head))); return; }
    const now = [e.offsetX, e.offsetY]; fingers.set(e.pointerId, now); moved += Math.hypot(now[0] - was[0], now[1] - was[1]);
    if (moved < 4) return;
    canvas.classList.add("drag");
    if (fingers.size === 2) { const [a, b] = [...fingers.values()], d = Math.hypot(a[0] - b[0], a[1] - b[1]); if (spread0) zoomAt(d / spread0, (a[0] + b[0]) / 2, (a[1] + b[1]) / 2); spread0 = d; return; }
    tx += now[0] - was[0]; ty += now[1] - was[1]; draw();
  });
  const lift = e => {
    if (!fingers.delete(e.pointerId)) return;
    spread0 = 0; canvas.classList.remove("drag");
    if (e.type === "pointerup" && moved < 4) press(e.offsetX, e.offsetY);
  };
  canvas.addEventListener("pointerup", lift); canvas.addEventListener("pointercancel", lift);
  canvas.addEventListener("dblclick", e => { const h = hit(e.offsetX, e.offsetY); if (h && h.item && h.item.u < 0 && !h.head && !h.item.open) toggle(-h.item.u, true); });
  canvas.addEventListener("wheel", e => { e.preventDefault(); glide = null; if (e.ctrlKey || !e.shiftKey) zoomAt(Math.exp(-Math.max(-120, Math.min(120, e.deltaY)) * .0018), e.offsetX, e.offsetY); else { tx -= e.deltaY; draw(); } }, {passive: false});
  addEventListener("keydown", keys);
  chart.addEventListener("pointerdown", mapPress); chart.addEventListener("pointermove", mapPress);
  $("left").addEventListener("click", e => { if (narrow() && e.target.closest(".row") && !e.target.closest(".twist")) drawer("left", "menu", false); });
}
const narrow = () => getComputedStyle($("menu")).display !== "none";
function press(x, y) {
  if ($("left").classList.contains("shown")) return drawer("left", "menu", false);
  const h = hit(x, y);
  if (!h) return select(null);
  if (h.stub) { select(h.stub.go); return centre(h.stub.go); }
  const u = h.item.u;
  if (u < 0 && (h.item.open ? h.head && x < h.item.x * k + tx + 26 * Math.max(k, .55) : x < h.item.x * k + tx + h.item.w * k / 2 - wide(TITLE, cardName(-u)) * k / 2 + 8)) return toggle(-u);
  select(h.item.open && !h.head && selected === u ? null : u, false);
}
function keys(e) {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  const field = /^(INPUT|SELECT|TEXTAREA)$/.test(e.target.tagName), button = e.target.tagName === "BUTTON" || e.target.tagName === "TR";
  if (e.key === "Escape") { $("keys").hidden = true; drawer("left", "menu", false); if (!field) select(null); return; }
  if (field) return;
  const act = {
    "/": () => { if (narrow()) drawer("left", "menu", true); $("search").focus(); $("search").select(); }, " ": () => play(), ",": () => { play(false); goTo(step - 1, false, true); }, ".": () => { play(false); goTo(step + 1, true, true); },
    Home: () => { play(false); goTo(0); }, End: () => { play(false); goTo(timeline.length); }, f: () => fit(), "+": () => zoomAt(1.3), "=": () => zoomAt(1.3), "-": () => zoomAt(1 / 1.3), e: () => openAll(true), c: () => openAll(false), t: () => turn(),
    d: () => $("theme").click(), "?": () => $("help").click(), Enter: () => { if (selected < 0) toggle(-selected); else if (selected != null && narrow()) drawer("right", "inspect", true); }, Backspace: () => { const g = selected == null ? 0 : parentOf(selected); if (g > 0) select(-g); },
  }[e.key] || (e.key.startsWith("Arrow") ? () => { const u = neighbour(e.key); if (u != null) select(u); } : null);
  if (!act || button && (e.key === "Enter" || e.key === " ")) return;
  e.preventDefault(); act();
}

async function main() {
  setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  index(unfold(await unpack()));
  $("title").textContent = D.title;
  $("summary").textContent = `${D.extent} · ${D.engine}` + (D.totals.saved_bytes ? " · keeps " + size(D.totals.unique_bytes || D.totals.saved_bytes) : "");
  for (let g = 0; g < G.kind.length; g++) if (G.open[g]) opened.add(g);
  $("scrub").max = timeline.length; step = resting;
  $("half1").style.width = 100 * builds / Math.max(1, timeline.length) + "%"; if (timeline.length === builds) $("half2").hidden = true;
  $("half1").textContent = "build"; listen(); resize();
  choose();
  tree(); problems(); known(); inspect(); fit(D.small || Math.min((W - 32) / extent.w, (H - 32) / extent.h) > .4);
  heed(location.hash);
  window.glassgrad = {ready: true, get state() { return {selected, now: current() && shownAs(current()[1]), step, steps: timeline.length, builds, sideways, colour, scale: k, open: [...opened], items: items.map(i => i.u), hits: [...hits], spoken, playing: Boolean(playing)}; },
    textOf: u => u < 0 ? [cardName(-u), cardNote(-u)] : [nameInCard(u), secondLine(u), thirdLine(u, step)], place: u => { const i = spot.get(u); return i && [i.x * k + tx, i.y * k + ty, i.w * k, i.h * k]; }, names: () => items.map(i => unitName(i.u)), select, toggle, goTo, relayout, openAll, fit, turn, route, ways: () => wires.map(w => [w.pts.map((v, i) => v * k + (i % 2 ? ty : tx)), w.turns.length]), extent: () => extent, centre, picture, draws: paint};
}
main().catch(error => { const box = $("failed"); box.hidden = false; box.textContent = "This page could not be shown. " + error.message; throw error; });
