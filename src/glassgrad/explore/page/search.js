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
