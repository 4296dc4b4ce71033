// The panels: modules and problems on the left, what is known of the selected thing on the right. All text is text.
function el(tag, set = {}, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(set)) {
    if (key === "on") for (const [event, act] of Object.entries(value)) node.addEventListener(event, act);
    else if (key === "style") Object.assign(node.style, value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(key, value === true ? "" : value);
  }
  for (const child of children.flat(3)) if (child !== null && child !== undefined && child !== false && child !== "") node.append(child);
  return node;
}
const link = (label, u) => el("button", {class: "link", type: "button", on: {click: () => select(u)}}, label);
const table = rows => el("table", {}, el("tbody", {}, rows.filter(r => r[1] !== "" && r[1] != null).map(([a, ...b]) => el("tr", {}, el("td", {class: "quiet"}, a), b.map(c => el("td", {}, c))))));
const heading = label => el("h2", {}, label);

const STATES = {freed: "freed: a backward pass has used it up", modified: "changed in place since it was saved", hooked: "packed by a hook, not read"};
const sign = v => v == null ? "–" : round(v);
const statsLine = s => !s ? "" : count(s[0], "number") + [[s[1], "NaN"], [s[2], "inf"], [s[3], "zero"]].filter(p => p[0]).map(p => ", " + p[0].toLocaleString("en") + " " + p[1]).join("")
  + (s[4] != null ? `; from ${sign(s[4])} to ${sign(s[5])}` : "") + (s[6] != null ? `, mean ${sign(s[6])}` : "") + (s[7] != null ? `, norm ${sign(s[7])}` : "");

function inspect() {
  const right = $("right"), now = stepping && current(); right.replaceChildren();
  if (now) { right.append(heading($("phase").textContent), el("p", {id: "now"}, story(now)), ...(sourceOf(now[1]) || [])); inspectBox(now[1], right, true); right.scrollTop = 0; return; }
  if (selected == null) { right.append(el("h1", {}, D.title || "The graph"), el("p", {class: "quiet"}, D.small ? "Select a node to read what it is, or press space to see the graph being built and the gradient flow back." : "Select a node to read what it is, or open a card with a double click. / searches, space plays.")); return overview(right); }
  selected < 0 ? inspectCard(-selected, right) : inspectBox(selected, right);
  right.scrollTop = 0;
}
function overview(right) {
  const t = D.totals, rows = Object.keys(t).map(key => [key.replace(/_/g, " "), /bytes/.test(key) ? size(t[key]) : t[key].toLocaleString("en")]);
  right.append(heading("In numbers"), table([["engine", D.engine], ["boxes", B.kind.length.toLocaleString("en")], ["arrows", A.src.length.toLocaleString("en")], ...rows]));
  if (D.parameters.length) {
    right.append(heading("Parameters"), el("table", {}, el("tbody", {}, D.parameters.slice(0, 300).map(([path, i, shape, , wants]) => el("tr", {}, el("td", {}, i >= 0 ? link(path, i) : el("span", {class: wants ? "bad" : "quiet"}, path + (wants ? " (unused)" : " (frozen)"))), el("td", {class: "quiet"}, shape))))));
    if (D.parameters.length > 300) right.append(el("p", {class: "quiet"}, `and ${(D.parameters.length - 300).toLocaleString("en")} more`));
  }
}
function crumbs(u) {
  const path = []; for (let g = parentOf(u); g > 0; g = G.parent[g]) path.unshift(g);
  return path.length ? el("p", {class: "quiet"}, path.map((g, i) => [i ? " › " : "", link(cardName(g), -g)])) : null;
}
function inspectCard(g, right) {
  const open = opened.has(g);
  right.append(el("h1", {}, cardName(g)), crumbs(-g) || "", el("p", {}, G.kind[g] === "fold" ? `${G.name[g]}: siblings of one kind, put into one card.` : G.kind[g] === "span" ? "A stretch of a long list of operations, in the order they were done."
    : G.kind[g] === "loop" ? `Turn ${G.call[g]} of the loop at ${G.path[g]}.` : `${G.kind[g] === "function" ? "A call of the function" : "A call of the module"} ${G.kind[g] === "function" ? cardName(g) : G.path[g] || "(the model itself)"}${G.cls[g] && G.kind[g] !== "function" ? (/^[AEIO]/.test(G.cls[g]) ? ", an " : ", a ") + G.cls[g] : ""}.`),
    el("button", {type: "button", on: {click: () => toggle(g)}}, open ? "Collapse (Enter)" : "Expand (Enter)"),
    heading("Together"), table([["shapes", cardShapes(g)], ["parameters", G.weights[g] ? G.weights[g].toLocaleString("en") : ""], ["nodes", G.count[g].toLocaleString("en")], ["bytes kept", G.bytes[g] ? size(G.bytes[g]) : ""], ["gradient norm", G.norm[g] == null ? "" : round(G.norm[g])], ["time", G.ms[g] ? round(G.ms[g]) + " ms" : ""]]));
  right.append(heading("Holds"), el("div", {}, L[g].units.slice(0, 200).map(u => el("p", {style: {margin: "1px 0"}}, link(unitName(u), u), el("span", {class: "quiet"}, u < 0 ? " " + cardClass(-u) : " " + secondLine(u))))));
  if (L[g].units.length > 200) right.append(el("p", {class: "quiet"}, `and ${(L[g].units.length - 200).toLocaleString("en")} more`));
}
function plainSentence(i) {
  const names = arrows => [...new Set(arrows.map(boxName))], list = (all, n = 4) => all.slice(0, n).join(", ") + (all.length > n ? ` and ${all.length - n} more` : "");
  const made = names(into[i].map(a => A.src[a])), used = names(uses(i).map(a => A.dst[a]));
  if (B.kind[i] === LEAF) return used.length ? `A leaf: a tensor that wants its gradient. It is used ${uses(i).length === 1 ? "once" : uses(i).length + " times"}, by ${list(used)}` + (uses(i).length > 1 ? "; the gradients that come back are added up." : ".") : "A leaf that nothing in this graph uses.";
  if (B.kind[i] === INPUT) return `An input or a constant: a tensor from outside of the graph, to which no gradient goes. Used by ${list(used)}.`;
  if (B.kind[i] === OUTPUT) return "What the graph computes. The backward pass starts here" + (text(B.shape[i]) === "()" ? ", with the gradient 1." : ".");
  if (B.kind[i] === BASE) return "The tensor that the output is a view of.";
  if (B.kind[i] === CUT) return "Here a value left the graph: no gradient goes back beyond this point.";
  return made.length ? `Made from ${list(made)}; ` + (into[i].length === 1 ? "its gradient goes back to it." : "its gradient goes back to each of them.") : "An operation none of whose inputs wants a gradient here.";
}
/** The line that did it, with the exact expression marked. */
function sourceOf(i) {
  const d = detail(i); if (!d.loc) return null;
  const [file, line, fn, expression, code, full] = d.loc, source = text(code), part = text(expression), at = part ? source.indexOf(part) : -1;
  return [el("p", {class: "quiet", title: text(full)}, `${text(file)}:${line}` + (text(fn) ? " in " + text(fn) : "")),
    source || part ? at < 0 ? el("pre", {}, source || part) : el("pre", {}, source.slice(0, at).trimStart(), el("mark", {}, part), source.slice(at + part.length)) : ""];
}
function inspectBox(i, right, told = false) {
  const first = B.first[i] < 0 ? i : B.first[i], d = detail(i), kind = B.kind[i];
  const nodeName = opOf(i) || boxName(i), own = kind === OP ? text(B.name[i]) : "";
  right.append(el("h1", {}, kind === OP ? nodeName : boxName(i), own ? el("span", {class: "quiet"}, " " + own) : ""), crumbs(i) || "",
    el("p", {}, el("span", {class: "chip"}, ["operation", "leaf", "output", "base", "cut", "opaque", "input"][kind]), text(B.dtype[i]) ? el("span", {class: "chip"}, text(B.dtype[i]) + " " + (text(B.shape[i]) === "()" ? "scalar" : text(B.shape[i]))) : "", B.node[i] >= 0 ? el("span", {class: "chip"}, "node " + B.node[i]) : ""),
    el("p", {}, d.sentence || plainSentence(i)));
  for (const p of D.problems) if (p[2] === first) right.append(el("p", {class: "bad"}, p[1]));
  if (d.rule) right.append(heading("Derivative rule"), el("pre", {}, d.rule));
  if (d.loc && !told) right.append(heading("Source"), ...sourceOf(i));
  if (kind === LEAF && B.sink[i] >= 0) right.append(heading(opOf(i)), el("p", {}, `The node at which the gradient of ${boxName(i)} ends: whatever arrives is added up in ${boxName(i)}.grad.`));
  const values = [["value", text(B.value[i])], ["result", statsLine(d.stats)]];
  if (d.results && d.results.length > 1) values.push(["results", d.results.map(r => text(r[0])).join(", ")]);
  if (values.some(v => v[1])) right.append(heading("Value"), table(values));
  const sum = kind === LEAF ? sumText(i, 1 << 30) : "";
  const grads = [[sum.includes("=") ? "adds up" : "arrived", sum.includes("=") ? el("b", {id: "sum"}, sum) : gradText(i)], ["numbers", statsLine(d.gradient)]];
  if (grads.some(v => v[1])) right.append(heading("Gradient"), table(grads));
  const way = (a, other) => el("tr", {}, el("td", {}, link(boxName(other), other)), el("td", {class: "mono"}, D.small ? equation(a) : flowText(a)), el("td", {class: "quiet"}, text(A.local[a]) && !D.small ? "∂ " + text(A.local[a]) : ""));
  const ins = into[i], outs = kind === LEAF ? uses(i) : from[i];
  if (ins.length) right.append(heading("Goes back to"), el("table", {}, el("tbody", {}, ins.slice(0, 60).map(a => way(a, A.src[a])))));
  if (outs.length) right.append(heading("Used by" + (outs.length > 1 ? " (" + outs.length.toLocaleString("en") + ")" : "")), el("table", {}, el("tbody", {}, outs.slice(0, 60).map(a => way(a, A.dst[a])))), outs.length > 60 ? el("p", {class: "quiet"}, `and ${outs.length - 60} more`) : "");
  if (d.saved) right.append(heading("Saved for backward" + (B.bytes[i] ? " · " + size(B.bytes[i]) : "")), el("table", {}, el("tbody", {}, d.saved.map(([slot, state, name, shape, type, bytes, value]) => el("tr", {}, el("td", {class: "mono"}, text(slot)), el("td", {class: text(state) === "ok" || !state ? "" : "bad"}, STATES[text(state)] || [text(name), text(shape), text(type), text(value) ? "= " + text(value) : ""].filter(Boolean).join(" ")), el("td", {class: "quiet"}, bytes ? size(bytes) : ""))))));
  if (d.attrs) right.append(heading("Settings"), table(d.attrs.map(([a, b]) => [a, el("code", {}, b)])));
  const when = [["built", builtAt[i] >= 0 && builtAt[i] < builds ? link.step("step " + (builtAt[i] + 1), builtAt[i] + 1) : ""], ["backward", backAt[i] >= 0 ? link.step("step " + (backAt[i] - builds + 1), backAt[i] + 1) : ""], ["time", B.ms[i] ? round(B.ms[i]) + " ms" : ""]];
  right.append(heading("When"), table(when));
  pathTable(i, right);
}
link.step = (label, to) => el("button", {class: "link", type: "button", on: {click: () => goTo(to)}}, label);

/** The derivative of the output by this, as a sum over all paths; only where every local derivative is a number. */
function pathTable(i, right) {
  if (B.kind[i] === OUTPUT || A.src.length > 600 || B.kind[i] === CUT) return;
  const found = [], starts = (B.kind[i] === LEAF ? uses(i) : from[i]).slice().sort((a, b) => builtAt[A.dst[a]] - builtAt[A.dst[b]]); let guard = 0, all = true;
  const seek = (a, way) => {
    if (++guard > 20000 || found.length > 64) { all = false; return; }
    const next = way.concat(a), at = A.dst[a];
    if (B.kind[at] === OUTPUT) found.push(next); else if (next.length < 60) for (const b of from[at]) if (A.kind[b] === 0) seek(b, next);
  };
  for (const a of starts) if (A.kind[a] === 0) seek(a, []);
  if (!found.length || !all) { if (!all) right.append(heading("Paths"), el("p", {class: "quiet"}, "More than 64 paths lead from here to the output.")); return; }
  const locals = w => w.filter(a => B.kind[A.dst[a]] !== OUTPUT).map(a => text(A.local[a])), numeric = found.every(w => locals(w).every(t => t !== "" && isFinite(+t)));
  const product = w => locals(w).reduce((s, t) => s * +t, 1);
  right.append(heading(numeric ? "Derivative: the sum over its paths" : "Paths to the output"), el("table", {id: "paths"}, el("tbody", {}, found.map(w => {
    const on = () => { lit = new Set(w); draw(); }, off = () => { lit.clear(); draw(); }, steps = w.map(a => boxName(A.dst[a])).join(" → ");
    return el("tr", {class: "path", tabindex: "0", on: {mouseenter: on, focus: on, mouseleave: off, blur: off}}, el("td", {}, steps, numeric ? el("div", {class: "mono"}, locals(w).length > 1 ? locals(w).join(" × ") + " = " + round(product(w)) : round(product(w))) : ""));
  }), numeric ? el("tr", {}, el("td", {}, found.length > 1 ? el("span", {class: "quiet"}, "sum") : "", el("div", {class: "mono"}, el("b", {id: "pathSum"}, (found.length > 1 ? found.map(w => round(product(w))).join(" + ") + " = " : "") + round(found.reduce((s, w) => s + product(w), 0)))))) : "")));
}

// ---- left: modules, problems, what is known ----
const grown = new Set();
function tree() {
  const cards = G.kind.length > 1; $("treeBox").hidden = !cards; if (!cards) return;
  if (!G.kind.includes("module")) $("treeTitle").firstChild.textContent = "Parts ";
  for (let g = 1; g < G.kind.length; g++) if (G.open[g]) grown.add(g);
  drawTree();
}
function drawTree() {
  const box = $("tree"); box.replaceChildren();
  let most = 1, low = Infinity, high = -Infinity;
  for (let g = 1; g < G.kind.length; g++) { most = Math.max(most, G.bytes[g]); const v = G.norm[g]; if (v > 0 && isFinite(v)) { low = Math.min(low, v); high = Math.max(high, v); } }
  const bar = v => v > 0 && isFinite(v) ? high > low ? 6 + 94 * Math.log(v / low) / Math.log(high / low) : 60 : 0;
  let left = 1500;
  const add = (g, depth) => {
    const inner = L[g].units.filter(u => u < 0).map(u => -u), out = grown.has(g), norm = G.norm[g];
    if (left-- < 0) return;
    box.append(el("div", {class: "item", style: {paddingLeft: depth * 12 + "px"}},
      inner.length ? el("button", {class: "twist", type: "button", "aria-expanded": String(out), "aria-label": (out ? "Fold " : "Unfold ") + cardName(g), on: {click: () => { out ? grown.delete(g) : grown.add(g); drawTree(); }}}, out ? "▾" : "▸") : el("span", {style: {width: "18px", flex: "none"}}),
      el("button", {class: "row", type: "button", "data-card": g, title: `${G.path[g]} ${G.cls[g]}\n${count(G.count[g], "node")}, ${size(G.bytes[g]) || "0 B"} kept` + (norm != null ? `, gradient norm ${round(norm)}` : ""), on: {click: () => select(-g), dblclick: () => toggle(g)}},
        el("span", {class: "grow"}, cardName(g), el("span", {class: "quiet"}, " " + cardClass(g))),
        el("span", {class: "bars", "aria-hidden": "true"}, el("i", {class: "b", style: {width: 100 * G.bytes[g] / most + "%"}}), el("i", {class: "g", style: {width: bar(norm) + "%", background: Number.isNaN(norm) || norm === Infinity ? "var(--bad)" : null}})))));
    if (out) for (const h of inner) add(h, depth + 1);
  };
  for (const u of L[0].units) if (u < 0) add(-u, 0);
  if (left < 0) box.append(el("p", {class: "quiet"}, "and more: fold some to see them"));
  markTree();
}
function markTree() {
  let g = selected == null ? 0 : selected < 0 ? -selected : home[selected];
  for (const row of document.querySelectorAll("#tree .row")) row.classList.toggle("on", +row.dataset.card === g);
}
const MARKS = {cut: "✂", nan: "NaN", inf: "∞", zero: "0", freed: "∅", modified: "✎", unused: "–", vanishing: "↓", exploding: "↑", dead: "†"};
function problems() {
  $("problemBox").hidden = !D.problems.length;
  const ofScope = new Map(G.scope.map((s, g) => [s, g]));
  const kinds = new Map(), alike = new Map(), row = list => { // the same at many places is one row, and a click goes from one to the next
    const [kind, what, , , where] = list[0]; let at = -1;
    return el("button", {class: "row tall", type: "button", on: {click: () => {
      const [, , i, scope] = list[at = (at + 1) % list.length], card = ofScope.get(scope), u = i >= 0 ? i : card !== undefined && scope >= 0 ? -card : null;
      if (u !== null) select(u);
    }}}, el("b", {class: "bad mark", title: kind}, MARKS[kind] || "!"), el("span", {class: "grow"}, what || kind, where ? el("span", {class: "quiet"}, " " + where.split(/[\\/]/).pop()) : ""), list.length > 1 ? el("span", {class: "chip"}, "×" + list.length) : "");
  };
  for (const p of D.problems) {
    const key = [p[0], p[1], p[4]].join("\n"), known = alike.get(key);
    if (known) { known.push(p); continue; }
    const list = [p]; alike.set(key, list); (kinds.get(p[0]) || kinds.set(p[0], []).get(p[0])).push(list);
  }
  $("problems").replaceChildren(...[...kinds.values()].flatMap(list => {
    const rows = list.slice(0, 4).map(row), rest = list.slice(4, 300);
    if (rest.length) { const more = el("button", {class: "link", type: "button", style: {margin: "2px 36px"}, on: {click: () => more.replaceWith(...rest.map(row))}}, `${(list.length - 4).toLocaleString("en")} more of this kind`); rows.push(more); }
    return rows;
  }));
}
function known() {
  const steps = ["the graph: operations, shapes, saved tensors", "names of parameters and modules", "lines, scopes and values of the forward pass", "gradients of an observed backward pass"];
  const how = ["", "give model=", "run the forward pass under record()", "run the backward pass observed"];
  if (D.level === 4) return $("known").replaceChildren(el("p", {class: "quiet"}, "✓ the graph, its names, its lines, its gradients"));
  $("known").replaceChildren(...steps.map((s, i) => el("p", {class: i < D.level ? "" : "quiet", style: {margin: "1px 0"}}, (i < D.level ? "✓ " : "○ ") + s + (i < D.level ? "" : " – " + how[i]))));
}
// Search: every word must fit. Words: an operation, a name, a module, file:line, a shape, nan, inf, zero, norm<1e-6, bytes>1mb.
const UNITS = {b: 1, kb: 1024, mb: 1048576, gb: 1073741824};

function parse(query) {
  const shapes = [], rest = query.toLowerCase().replace(/[([]\s*([\d\s,]*)[)\]]/g, (_, inner) => { shapes.push("(" + inner.split(",").map(s => s.trim()).filter(Boolean).join(", ") + ")"); return " "; });
  const tests = shapes.map(s => i => text(B.shape[i]) === s);
  for (const word of rest.split(/\s+/).filter(Boolean)) {
    const compare = /^(norm|value|bytes|ms|time)(<=|>=|<|>|=)(-?[\d.]+(?:e[+-]?\d+)?)(b|kb|mb|gb)?$/.exec(word);
    if (compare) {
      const column = {norm: "norm", value: "valueNorm", bytes: "bytes", ms: "ms", time: "ms"}[compare[1]], limit = +compare[3] * (UNITS[compare[4]] || 1);
      const holds = {"<": v => v < limit, "<=": v => v <= limit, ">": v => v > limit, ">=": v => v >= limit, "=": v => v === limit}[compare[2]];
      tests.push(i => B[column][i] != null && holds(B[column][i]));
    } else if (word === "nan" || word === "inf" || word === "zero") {
      const at = {nan: 1, inf: 2, zero: 3}[word];
      tests.push(i => { const d = detail(i); return [d.stats, d.gradient].some(s => s && (at < 3 ? s[at] > 0 : s[at] === s[0] && s[0] > 0)); });
    } else if (word === "leaf" || word === "output" || word === "cut" || word === "input") { const kind = {leaf: 1, output: 2, cut: 4, input: 6}[word]; tests.push(i => B.kind[i] === kind); }
    else if (/:\d+$/.test(word)) tests.push(i => haystack(i).includes(word + " ")); // a line: 2 is not 20
    else tests.push(i => haystack(i).includes(word));
  }
  return tests;
}
const straw = new Map();
function haystack(i) {
  let s = straw.get(i);
  if (s === undefined) {
    const d = detail(i), parts = [opOf(i), text(B.name[i]), text(B.dtype[i]), text(B.shape[i]).replace(/[() ]/g, "").replace(/,/g, "x")];
    for (let g = home[i]; g > 0; g = G.parent[g]) parts.push(G.path[g], G.cls[g]);
    if (d.loc) parts.push(text(d.loc[0]) + ":" + d.loc[1] + " ", text(d.loc[2]), text(d.loc[3]));
    straw.set(i, s = parts.join(" ").toLowerCase());
  }
  return s;
}
function search(query) {
  const found = $("found"); hits = new Set(); found.replaceChildren();
  $("hints").hidden = Boolean(query.trim());
  if (!query.trim()) { draw(); return []; }
  const tests = parse(query), list = [];
  for (let i = 0; i < B.kind.length; i++) if (B.first[i] < 0 && tests.every(t => t(i))) list.push(i);
  const lead = query.trim().toLowerCase().split(/\s+/)[0], far = i => boxName(i).toLowerCase().includes(lead) ? 0 : 1; // found by its name: before what is found by its line
  list.sort((a, b) => far(a) - far(b) || builtAt[a] - builtAt[b]);
  const cards = []; const word = query.trim().toLowerCase();
  for (let g = 1; g < G.kind.length && cards.length < 8; g++) if ((G.path[g] || "").toLowerCase() === word || (G.cls[g] || "").toLowerCase() === word) cards.push(-g);
  for (const i of list) hits.add(shownAs(i));
  found.append(el("p", {class: "quiet", id: "foundCount"}, list.length ? count(list.length, "node") + " found" + (list.length > 100 ? ", the first 100:" : "") : "Nothing found"));
  for (const u of cards.concat(list.slice(0, 100))) {
    let where = ""; for (let g = parentOf(u); g > 0; g = G.parent[g]) if (G.path[g] && G.kind[g] !== "fold") { where = G.path[g]; break; }
    found.append(el("button", {class: "row", type: "button", role: "listitem", on: {click: () => select(u)}}, el("span", {class: "grow"}, unitName(u), el("span", {class: "quiet"}, " " + where)), el("span", {class: "quiet"}, u < 0 ? cardClass(-u) : gradText(u))));
  }
  draw();
  return list;
}
// The timeline: the graph is built, then the gradient goes back along it.
let playing = 0, stepping = false;   // stepping: the panel tells of the step, until something is selected

function goTo(to, animate = false, follow = false) {
  step = Math.max(0, Math.min(timeline.length, to));
  $("scrub").value = step;
  const now = current(), back = step > builds;
  $("phase").textContent = step === 0 ? "before" : back ? `backward ${step - builds} / ${timeline.length - builds}` : `build ${step} / ${builds}`;
  $("scrub").setAttribute("aria-valuetext", $("phase").textContent);
  $("story").textContent = story(now);
  pulse = null;
  if (now && now[0] === "back" && animate && !calm.matches) {
    const ways = into[now[1]].filter(a => A.kind[a] === 0), routes = new Map(ways.map(a => [a, route(a)]));
    const arrows = ways.filter(a => routes.get(a).length);
    if (arrows.length) pulse = {arrows, routes, began: performance.now(), ms: Math.min(600, pace() * .85)};
  }
  if (follow) { stepping = Boolean(now); inspect(); keepInSight(now); }
  draw(); tell();
}
/** Move the window, and no more than it takes, so that the step can be seen. */
function keepInSight(now) {
  const it = now && spot.get(shownAs(now[1])); if (!it) return;
  if (k < .5 && (extent.w * k > W || extent.h * k > H)) return centre(it.u);
  const room = 36, x = it.x * k + tx, y = it.y * k + ty, w = it.w * k, h = it.h * k;
  const by = (from, size, whole) => size > whole - 2 * room ? (whole - size) / 2 - from : Math.max(0, room - from) - Math.max(0, from + size - whole + room);
  const dx = by(x, w, W), dy = by(y, h, H);
  if (!dx && !dy) return;
  glideTo([k, tx + dx, ty + dy], Math.min(220, pace() / 2));
}
function story(now) {
  if (!now) return "Nothing is built yet.";
  const i = now[1], name = called(i), list = (all, n = 4) => all.slice(0, n).join(", ") + (all.length > n ? " …" : "");
  const note = D.events.filter(e => e[1] === i && (e[0] === "inplace" || e[0] === "problem" || now[0] === "back")).map(e => " " + e[3]).join("");
  if (now[0] === "build") {
    const value = text(B.value[i]) || text(B.shape[i]);
    if (B.kind[i] === INPUT) return `The input ${name}${value && value !== name ? " = " + value : ""}: no gradient goes to it.` + note;
    if (B.kind[i] === LEAF) return `The leaf ${name}${value ? " " + (text(B.value[i]) ? "= " : "") + value : ""}.` + note;
    const made = list(into[i].map(a => called(A.src[a]))), done = B.kind[i] === OP && name !== boxName(i) ? name + ", " + boxName(i) : name;
    return (B.kind[i] === OUTPUT ? `The output ${name}` : B.kind[i] === CUT ? `${name}: the value leaves the graph` : `${done} of ${made || "constants"}`) + (value ? (text(B.value[i]) ? " = " : " gives ") + value : "") + "." + note;
  }
  if (B.kind[i] === LEAF) { const sum = sumText(i, step); return `${name}.grad${sum ? ": " + sum : ""}`+ note; }
  if (B.kind[i] === OUTPUT) return `Backward starts at ${name}${gradText(i) ? ", with the gradient " + gradText(i) : ""}.` + note;
  const goes = list(into[i].filter(a => A.kind[a] === 0).map(a => `${called(A.src[a])} gets ${equation(a) || "its share"}`));
  return `${name}${gradText(i) ? " is handed " + gradText(i) : ""}: ${goes || "nothing goes further"}.` + note;
}
const pace = () => Math.max(40, Math.min(950, 30000 / Math.max(1, timeline.length))) / +$("speed").value;
function play(on = !playing) {
  clearTimeout(playing); playing = 0;
  $("play").querySelector("path").setAttribute("d", on ? "M3 2h4v12H3zM9 2h4v12H9z" : "M4 2l10 6-10 6z"); $("play").setAttribute("aria-label", on ? "Pause" : "Play");
  if (!on) return;
  if (step >= timeline.length) goTo(0);
  const tick = () => {
    if (step >= timeline.length) return play(false);
    goTo(step + Math.max(1, Math.round(timeline.length / 750)), true, true);
    playing = setTimeout(tick, pace());
  };
  playing = setTimeout(tick, 200);
}
