// The drawing. What is too small to read is left out, what is out of sight is not drawn.
let C = {}, frame = 0, scale = {}, heads = [], fine = 0; // fine: the dots of a picture that is saved
const RAMP = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];

function readTheme() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["back", "panel", "line", "ink", "quiet", "accent", "card0", "card1", "card2", "card-line", "closed", "closed-line", "call", "call-line", "op", "op-line", "leaf", "leaf-line",
    "input", "input-line", "out", "out-line", "cut", "cut-line", "wire", "flow", "bad", "ghost", "hit"]) C[name] = style.getPropertyValue("--" + name).trim();
}
function ramp(t) {
  const x = Math.min(.9999, Math.max(0, t)) * 4, i = Math.floor(x), f = x - i;
  const rgb = RAMP[i].map((v, c) => Math.round(v + (RAMP[i + 1][c] - v) * f));
  return {fill: "rgb(" + rgb.join(",") + ")", ink: .299 * rgb[0] + .587 * rgb[1] + .114 * rgb[2] > 140 ? "#101418" : "#ffffff"};
}
/** The range that the colours stand for, by what they tell of. */
function range() {
  scale = {};
  if (colour === "kind") return;
  let low = Infinity, high = -Infinity;
  for (let i = 0; i < B.kind.length; i++) { const v = B[colour][i]; if (v > 0 && Number.isFinite(v)) { low = Math.min(low, v); high = Math.max(high, v); } }
  if (high >= low) scale = {low: Math.log(low), high: Math.log(high), from: low, to: high};
}
function shade(u) {
  const part = colour === "norm" && B.kind[u] === LEAF && uses.boxes(u).length > 1 && from[u].length === 1; // of a leaf used often: this use
  const v = u < 0 ? G[colour][-u] : part ? A.norm[from[u][0]] : B[colour][u];
  if (v == null || scale.from === undefined) return null;
  if (Number.isNaN(v) || v === Infinity) return {fill: C.bad, ink: C.panel};
  if (v <= 0) return colour === "norm" ? ramp(0) : null;
  return ramp(scale.high > scale.low ? (Math.log(v) - scale.low) / (scale.high - scale.low) : 1);
}
const isBuilt = u => (u < 0 ? startOf[-u] : builtAt[u]) < step;
function draw() { if (!frame) frame = requestAnimationFrame(now => { frame = 0; paint(now); }); }

function resize() {
  const r = canvas.getBoundingClientRect(), dots = devicePixelRatio || 1;
  W = r.width; H = r.height; canvas.width = Math.round(W * dots); canvas.height = Math.round(H * dots);
}
function paint(now) {
  const dots = fine || devicePixelRatio || 1;
  pen.setTransform(dots, 0, 0, dots, 0, 0); pen.fillStyle = C.back; pen.fillRect(0, 0, W, H);
  pen.translate(tx, ty); pen.scale(k, k);
  const x0 = -tx / k, y0 = -ty / k, x1 = x0 + W / k, y1 = y0 + H / k;
  const near = (a, b, c, d) => a < x1 && c > x0 && b < y1 && d > y0;
  const cards = items.filter(i => i.open && near(i.x, i.y, i.x + i.w, i.y + i.h));
  for (const it of cards) card(it);
  const warm = new Set(), shown = selected == null ? [] : arrowsOf(selected).slice(0, 300);
  for (const a of shown) for (const w of route(a)) warm.add(w);
  const bright = new Set(); for (const a of lit) for (const w of route(a)) bright.add(w);
  pen.lineJoin = "round";
  const far = k < .14;
  if (far) { pen.strokeStyle = C.wire; pen.lineWidth = thin(1); pen.beginPath(); }
  for (const w of wires) { const b = w.box;
    if (far && !warm.has(w) && !bright.has(w)) {
      if (near(b[0], b[1], b[2], b[3]) && (b[2] - b[0] + b[3] - b[1]) * k > 2.5) { const p = w.pts, n = p.length; pen.moveTo(p[0], p[1]); if (w.turns.length) for (let i = 2; i < n - 2; i += 2) pen.lineTo(p[i], p[i + 1]); else if (n > 8) pen.lineTo(p[n >> 2 << 1], p[(n >> 2 << 1) + 1]); pen.lineTo(p[n - 2], p[n - 1]); }
      continue;
    }
    if (far) pen.stroke(); if (near(b[0] - 4, b[1] - 4, b[2] + 4, b[3] + 4) && ((b[2] - b[0]) + (b[3] - b[1])) * k > 2.5) wire(w, warm.has(w), bright.has(w));
    if (far) { pen.strokeStyle = C.wire; pen.lineWidth = thin(1); pen.beginPath(); }
  }
  if (far) pen.stroke();
  if (k > .22) for (const s of stubs) stub(s, near);
  heads = []; if (k >= .55) for (const it of cards) cardHead(it);
  for (const it of items) if (!it.open && near(it.x, it.y, it.x + it.w, it.y + it.h)) it.u < 0 ? closedCard(it) : box(it);
  if (k < .55) for (const it of cards) cardHead(it); // from afar the names of cards lie above all
  if (k > .45) labels(shown, near);
  if (pulse) pulses(now);
  drawMap();
}

function rounded(it, r) { pen.beginPath(); pen.roundRect(it.x, it.y, it.w, it.h, r); }
const thin = w => Math.max(w, .7 / k);

const isFunction = u => G.kind[-u] === "function";
function card(it) {
  const sel = selected === it.u;
  if (isFunction(it.u)) pen.setLineDash([7, 3]);
  pen.fillStyle = C[["card0", "card1", "card2"][it.depth % 3]]; pen.strokeStyle = sel ? C.accent : C["card-line"]; pen.lineWidth = thin(sel ? 2.2 : 1);
  rounded(it, isFunction(it.u) ? 3 : 9); pen.fill(); pen.stroke(); pen.setLineDash([]);
}
function cardHead(it) {
  if (it.w * k < 22) return;
  const size = k < .55 ? Math.min(.76 / k, k > .3 ? 1.35 : 80) : 1, g = -it.u, room = (it.w - 16) / size, bare = cardName(g), name = wide(TITLE, "▾ " + bare) > room ? bare : "▾ " + bare, fits = size > 1 && wide(TITLE, bare) > room ? 0 : room;
  if (!fits) return;
  if (k < .55 && it.h * k < 38) return;
  const x = it.x + 8, y = it.y + 5 * size, title = clip(TITLE, name, fits), far = x + wide(TITLE, title) * size, low = y + 16 * size;
  if (size > 1 && heads.some(h => x < h[2] && far > h[0] && y < h[3] && low > h[1])) return;
  heads.push([x, y, far, low]);
  pen.save(); pen.translate(x, y); pen.scale(size, size);
  const w = wide(TITLE, title), rest = size === 1 && fits - w > 30 ? clip(SUB, [cardClass(g), G.kind[g] === "module" ? cardNote(g) : ""].filter(Boolean).join("   "), fits - w - 8) : "";
  pen.fillStyle = C[["card0", "card1", "card2"][it.depth % 3]]; pen.globalAlpha = .92; pen.fillRect(-3, 0, w + (rest ? wide(SUB, rest) + 8 : 0) + 6, 16); pen.globalAlpha = 1;
  pen.textAlign = "left"; pen.fillStyle = isBuilt(it.u) ? C.ink : C.quiet; pen.font = TITLE; pen.fillText(title, 0, 12.5);
  if (rest) { pen.font = SUB; pen.fillStyle = C.quiet; pen.fillText(rest, w + 7, 12.5); }
  pen.restore();
}
function clip(font, string, room) {
  if (wide(font, string) <= room) return string;
  if (room < 14) return "";
  let a = 0, b = string.length;
  while (a < b) { const m = (a + b + 1) >> 1; wide(font, string.slice(0, m) + "…") <= room ? a = m : b = m - 1; }
  return a ? string.slice(0, a) + "…" : "";
}
function wire(w, warm, bright) {
  const built = (w.arrow >= 0 ? builtAt[A.dst[w.arrow]] : w.to < 0 ? startOf[-w.to] : builtAt[w.src]) < step && builtAt[w.src] < step;
  pen.strokeStyle = pen.fillStyle = bright ? C.flow : warm ? C.accent : !built ? C.ghost : w.kind === 2 ? C["cut-line"] : C.wire;
  pen.lineWidth = thin(bright ? 3 : warm ? 2.2 : w.many ? 3.5 : w.turns.length ? 1.9 : 1.3);
  pen.setLineDash(w.kind === 2 ? [5, 4] : w.kind === 1 ? [2, 3] : !built ? [3, 4] : []);
  const p = w.pts, n = p.length, back = w.head ? 6 : 0;
  pen.beginPath(); pen.moveTo(p[0], p[1]);
  let ex = p[n - 2], ey = p[n - 1];
  for (let i = 2; i < n; i += 2) {
    const x = p[i - 2], y = p[i - 1]; let u = p[i], v = p[i + 1];
    if (i === n - 2) { if (sideways) u -= back; else v -= back; }
    if (Math.abs(x - u) < .5 || Math.abs(y - v) < .5) {
      const a = p[i + 2], b = p[i + 3], bends = w.turns.length && i < n - 2 && (Math.abs(x - u) < .5 ? Math.abs(v - b) < .5 && Math.abs(u - a) > 1 : Math.abs(u - a) < .5 && Math.abs(v - b) > 1);
      bends ? pen.arcTo(u, v, a, b, Math.min(9, (Math.abs(x - u) + Math.abs(y - v)) / 2, (Math.abs(a - u) + Math.abs(b - v)) / 2)) : pen.lineTo(u, v);
    }
    else if (sideways) { const m = (x + u) / 2; pen.bezierCurveTo(m, y, m, v, u, v); }
    else { const m = (y + v) / 2; pen.bezierCurveTo(x, m, u, m, u, v); }
  }
  pen.stroke(); pen.setLineDash([]);
  for (const i of w.turns) { // which way a line goes that leads to the next lane
    const s = Math.max(4.5, 2.6 / k), x = (p[i] + p[i + 2]) / 2, y = (p[i + 1] + p[i + 3]) / 2, dx = Math.sign(p[i + 2] - p[i]), dy = Math.sign(p[i + 3] - p[i + 1]);
    pen.beginPath(); pen.moveTo(x + dx * s, y + dy * s); pen.lineTo(x - dx * s + dy * s, y - dy * s + dx * s); pen.lineTo(x - dx * s - dy * s, y - dy * s - dx * s); pen.closePath(); pen.fill();
  }
  if (w.head && k > .12) head(ex, ey, bright || w.many ? 5 : warm ? 4.6 : 4);
  if (w.many && k > .42) { pen.font = SUB; pen.fillStyle = C.quiet; pen.textAlign = "left"; const [x, y] = samples(w).at(.55); pen.fillText("×" + w.many, x + (sideways ? -8 : 7), y + (sideways ? -7 : 4)); }
}
function head(x, y, s) {
  pen.beginPath(); pen.moveTo(x, y);
  if (sideways) { pen.lineTo(x - 2 * s, y - s); pen.lineTo(x - 2 * s, y + s); } else { pen.lineTo(x - s, y - 2 * s); pen.lineTo(x + s, y - 2 * s); }
  pen.closePath(); pen.fill();
}
function stub(s, near) {
  const [x, y] = s.p, [u, v] = s.q;
  s.area = null;
  if (!near(Math.min(x, u) - 60, Math.min(y, v) - 20, Math.max(x, u) + 60, Math.max(y, v) + 20)) return;
  const hot = selected != null && (s.go === selected || s.src === selected);
  pen.strokeStyle = pen.fillStyle = hot ? C.accent : s.kind === 2 ? C["cut-line"] : C.wire; pen.lineWidth = thin(1.3);
  pen.beginPath(); pen.moveTo(x, y); pen.lineTo(u, v); pen.stroke();
  if (s.out) { pen.beginPath(); pen.arc(u, v, 2.4, 0, 7); pen.fill(); } else { pen.beginPath(); pen.arc(x, y, 2.4, 0, 7); pen.fill(); if (s.head) head(u, v, 3.4); }
  if (k < .5) return;
  const label = clip(SUB, s.text, Math.max(46, s.w * .62)), w = wide(SUB, label);
  pen.font = SUB; pen.fillStyle = hot ? C.accent : C.quiet;
  let lx, ly;
  if (sideways) { lx = s.out ? u + 5 : x - 5 - w; ly = s.out ? v + 4 : y + 4; } else if (s.out) { lx = u + 6; ly = v + 4; } else { lx = x - 6 - w; ly = y + 4; }
  pen.textAlign = "left"; pen.fillText(label, lx, ly);
  s.area = [Math.min(lx, x) - 3, ly - 13, lx + w + 4, ly + 6];
}
function face(it, fill, edge, built, radius) {
  const u = it.u, sel = selected === u, found = hits.has(u);
  if (found && built) { pen.save(); pen.strokeStyle = C.hit; pen.lineWidth = thin(8); rounded(it, radius); pen.stroke(); pen.restore(); }
  pen.globalAlpha = built ? 1 : .55;
  pen.fillStyle = built ? fill : C.back; pen.strokeStyle = sel ? C.accent : built ? edge : C.ghost; pen.lineWidth = thin(sel ? 2.8 : 1.2);
  pen.setLineDash(built ? [] : [4, 3]); rounded(it, radius); pen.fill(); pen.stroke(); pen.setLineDash([]); pen.globalAlpha = 1;
}
const current = () => step > 0 && step <= timeline.length ? timeline[step - 1] : null;
function ring(it, radius) {
  const now = current(); if (!now || shownAs(now[1]) !== it.u || step === timeline.length && !pulse) return;
  pen.strokeStyle = now[0] === "back" ? C.flow : C.accent; pen.lineWidth = thin(3); pen.beginPath(); pen.roundRect(it.x - 4, it.y - 4, it.w + 8, it.h + 8, radius + 4); pen.stroke();
}
function box(it) {
  if (it.h * k < 3.2 && selected !== it.u && !hits.has(it.u)) return dot(it);
  const i = it.u, kind = B.kind[i], built = isBuilt(i), radius = kind === LEAF || kind === INPUT ? Math.min(it.h / 2, 17) : kind === OUTPUT || kind === BASE ? 12 : 5;
  const tone = colour === "kind" ? null : shade(i);
  const [fill, edge] = kind === LEAF ? [C.leaf, C["leaf-line"]] : kind === INPUT ? [C.input, C["input-line"]] : kind === OUTPUT || kind === BASE ? [C.out, C["out-line"]] : kind === CUT ? [C.cut, C["cut-line"]] : [C.op, C["op-line"]];
  if (kind === CUT) pen.setLineDash([5, 3]);
  face(it, tone ? tone.fill : fill, edge, built, radius); ring(it, radius);
  if (it.h * k < 8) return;
  const ink = built ? tone ? tone.ink : C.ink : C.quiet, cx = it.x + it.w / 2, quiet = built && tone ? tone.ink : C.quiet;
  pen.textAlign = "center"; pen.fillStyle = ink;
  badge(it);
  if (k < .5) return bigName(nameInCard(i), it);
  pen.font = TITLE; pen.fillText(nameInCard(i), cx, it.y + (secondLine(i) ? 17 : 16));
  const second = secondLine(i); let y = it.y + 32;
  if (second) { pen.font = SUB; pen.fillStyle = quiet; if (built || !D.small) pen.fillText(second, cx, y); y += 16; }
  const sink = sinkLine(i);
  const third = thirdLine(i, pulse && kind === LEAF ? step - 1 : step); // a pulse on its way has not arrived
  if (third && (kind === LEAF || backAt[i] >= 0 && backAt[i] < step)) { pen.font = NUM; pen.fillStyle = tone ? tone.ink : C.flow; pen.fillText("grad " + third, cx, y); }
  else if (sink && built) { pen.font = SUB; pen.fillStyle = quiet; pen.fillText(sink, cx, y - 1); }
}
/** A name alone, as large as its box lets it be: what is read of a box from afar. */
function bigName(name, it) {
  const f = Math.min(.74 / k, (it.h - 6) / 13, (it.w - 8) / wide(TITLE, name));
  if (f * k < .4) return;
  pen.save(); pen.translate(it.x + it.w / 2, it.y + it.h / 2 + 4.4 * f); pen.scale(f, f); pen.font = TITLE; pen.textAlign = "center"; pen.fillText(name, 0, 0); pen.restore();
}
/** What is wrong with a box, at its corner. */
function badge(it) {
  const kind = troubles.get(it.u) || (Number.isNaN(B.norm[it.u]) || Number.isNaN(B.valueNorm[it.u]) ? "nan" : "");
  if (!kind || kind === "cut" || k < .25) return;
  const mark = MARKS[kind] || "!", w = wide(NUM, mark) + 9, x = it.x + it.w - Math.min(9, w / 2), y = it.y - 8, ink = pen.fillStyle;
  pen.fillStyle = C.bad; pen.beginPath(); pen.roundRect(x, y, w, 16, 8); pen.fill();
  pen.fillStyle = C.panel; pen.font = NUM; pen.textAlign = "left"; pen.fillText(mark, x + 4.5, y + 12); pen.textAlign = "center"; pen.fillStyle = ink;
}
const DOTS = ["op-line", "leaf-line", "out-line", "out-line", "cut-line", "op-line", "input-line"];
function dot(it) {
  const tone = colour === "kind" ? null : shade(it.u);
  pen.fillStyle = !isBuilt(it.u) ? C.ghost : tone ? tone.fill : C[DOTS[B.kind[it.u]]];
  pen.fillRect(it.x, it.y, it.w, it.h);
}
function closedCard(it) {
  const g = -it.u, built = isBuilt(it.u), tone = colour === "kind" ? null : shade(it.u);
  if (G.kind[g] === "fold" && built && it.h * k > 9) for (const d of [6, 3]) { // a stack
    pen.fillStyle = tone ? tone.fill : C.closed; pen.strokeStyle = C["closed-line"]; pen.lineWidth = thin(1); pen.beginPath(); pen.roundRect(it.x + d, it.y + d, it.w, it.h, 8); pen.fill(); pen.stroke();
  }
  const call = isFunction(it.u), radius = call ? 3 : 8;
  face(it, tone ? tone.fill : call ? C.call : C.closed, call ? C["call-line"] : C["closed-line"], built, radius); ring(it, radius);
  if (it.h * k < 8) return;
  const ink = built ? tone ? tone.ink : C.ink : C.quiet, title = "▸ " + cardName(g), cls = cardClass(g), w = wide(TITLE, title) + (cls ? wide(SUB, "  " + cls) : 0);
  if (k < .5) { pen.fillStyle = ink; return bigName(cardName(g), it); }
  pen.textAlign = "left"; pen.fillStyle = ink; pen.font = TITLE; const x = it.x + (it.w - w) / 2; pen.fillText(title, x, it.y + 19);
  if (cls) { pen.font = SUB; pen.fillStyle = tone && built ? tone.ink : C.quiet; pen.fillText("  " + cls, x + wide(TITLE, title), it.y + 19); }
  pen.font = SUB; pen.textAlign = "center"; pen.fillStyle = tone && built ? tone.ink : C.quiet; pen.fillText(cardNote(g), it.x + it.w / 2, it.y + 35);
}

/** Gradients on their arrows: all in a small graph, else those of what is selected. */
function labels(shown, near) {
  const now = current(), list = D.small && !(selected >= 0 && lit.size) ? A.src.map((_, a) => a) : shown.slice(0, 60);
  for (const a of list) {
    const at = backAt[A.dst[a]];
    if (at < 0 || at >= step || !flowText(a) || pulse && pulse.arrows.includes(a)) continue;
    const ways = route(a), w = ways[ways.length - 1]; if (!w) continue;
    const fan = into[A.dst[a]], aim = spot.get(shownAs(A.dst[a])), beside = aim && D.small && fan.length === 2 && !sideways ? aim.x + aim.w / 2 : 0;
    const run = w.box[sideways ? 2 : 3] - w.box[sideways ? 0 : 1], spotted = samples(w).before(!sideways && run < 48 ? run / 3 : sideways ? 30 : D.small ? B.kind.length > 9 ? 19 : 24 : 20);
    if (sideways) spotted[1] -= 9;
    if (!near(spotted[0] - 30, spotted[1] - 30, spotted[0] + 30, spotted[1] + 30)) continue;
    const label = now && now[0] === "back" && now[1] === A.dst[a] || D.small && selected === A.dst[a] ? equation(a) : flowText(a);
    if (beside && wide(NUM, label) > 22) spotted[0] += (w.pts[w.pts.length - 2] < beside ? -1 : 1) * (wide(NUM, label) / 2 + 7);
    plate(spotted, label);
  }
}
/** "1 × 3 = 3": what arrived, times the local derivative, is what flows on. */
function equation(a) {
  const local = text(A.local[a]), up = gradText(A.dst[a]), flow = flowText(a);
  return D.small && local && up && local.length < 12 && up.length < 12 ? up + " × " + local + " = " + flow : flow;
}
function plate([x, y], label) {
  const w = wide(NUM, label) + 8;
  pen.fillStyle = C.back; pen.globalAlpha = .9; pen.beginPath(); pen.roundRect(x - w / 2, y - 8, w, 16, 5); pen.fill(); pen.globalAlpha = 1;
  pen.font = NUM; pen.fillStyle = C.flow; pen.textAlign = "center"; pen.fillText(label, x, y + 4);
}
function pulses(now) {
  const t = Math.min(1, (now - pulse.began) / pulse.ms);
  for (const a of pulse.arrows) {
    const p = along(pulse.routes.get(a), t * (2 - t)); if (!p) continue;
    pen.fillStyle = C.flow; pen.globalAlpha = .25; pen.beginPath(); pen.arc(p[0], p[1], thin(11), 0, 7); pen.fill(); pen.globalAlpha = 1;
    pen.beginPath(); pen.arc(p[0], p[1], thin(5), 0, 7); pen.fill();
    const label = k > .4 ? equation(a) : ""; if (label) plate([p[0] + wide(NUM, label) / 2 + 16, p[1]], label);
  }
  if (t < 1) draw(); else { pulse = null; draw(); }
}
// The map: where in a large graph the window is. A press or a drag on it goes there.
const chart = $("map"), ground = document.createElement("canvas");
let charted = null, mapScale = 1;

function drawMap() {
  const large = items.length > 12 && W > 480 && (extent.w * k > 1.4 * W || extent.h * k > 1.4 * H);
  chart.hidden = !large; if (!large) return;
  const dots = devicePixelRatio || 1, key = [items, colour, document.documentElement.dataset.theme, dots, W, H];
  if (!charted || key.some((v, i) => v !== charted[i])) {
    charted = key; mapScale = Math.min(Math.min(180, W / 4) / extent.w, Math.min(130, H / 4) / extent.h);
    const w = Math.max(24, extent.w * mapScale), h = Math.max(24, extent.h * mapScale), ink = ground.getContext("2d");
    for (const c of [ground, chart]) { c.width = Math.round(w * dots); c.height = Math.round(h * dots); }
    chart.style.width = w + "px"; chart.style.height = h + "px";
    const f = mapScale * dots, size = v => Math.max(1, v * f);
    ink.fillStyle = C.back; ink.fillRect(0, 0, ground.width, ground.height);
    for (const it of items) {
      const tone = colour === "kind" || it.open ? null : shade(it.u);
      ink.fillStyle = it.open ? C[["card0", "card1", "card2"][it.depth % 3]] : tone ? tone.fill : it.u < 0 ? C["closed-line"] : C[DOTS[B.kind[it.u]]];
      ink.fillRect(it.x * f, it.y * f, size(it.w), size(it.h));
    }
  }
  const on = chart.getContext("2d"), f = mapScale * dots;
  on.drawImage(ground, 0, 0); on.strokeStyle = C.accent; on.lineWidth = 2 * dots;
  on.strokeRect(-tx / k * f, -ty / k * f, W / k * f, H / k * f);
}
function mapPress(e) {
  if (e.type === "pointermove" && !e.buttons) return;
  chart.setPointerCapture(e.pointerId); glide = null;
  tx = W / 2 - e.offsetX / mapScale * k; ty = H / 2 - e.offsetY / mapScale * k; draw();
}
