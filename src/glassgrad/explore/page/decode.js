// The data: columns as Python wrote them, and what is looked up all the time.
const $ = id => document.getElementById(id);
let D, B, A, G, L, T;            // data, boxes, arrows, groups (cards), levels, texts
let troubles, home, builtAt, backAt, startOf, into, from, uses, timeline, builds, resting;
const OP = 0, LEAF = 1, OUTPUT = 2, BASE = 3, CUT = 4, INPUT = 6;

async function unpack() {
  const bytes = Uint8Array.from(atob($("data").textContent.trim()), c => c.charCodeAt(0));
  if (typeof DecompressionStream === "undefined") throw new Error("This browser is too old for the page: it lacks DecompressionStream.");
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

/** What repeats was written once: columns of one value, what is told of boxes that are alike, the forms of levels. */
function unfold(data) {
  if (data.form !== 2) throw new Error("The data is of a form that this page does not know: " + data.form);
  for (const table of [data.boxes, data.arrows, data.groups]) stretch(table, table.entries);
  stretch(data.details, data.boxes.entries);
  data.levels = data.levels.own.map(([form, units, inward, outward, ends]) => {
    const [rows, paths, jumps] = data.levels.forms[form], end = k => ends.slice(2 * k, 2 * k + 2);
    return {units, in: inward, out: outward, rows, lines: paths.map((path, k) => [...end(k), path]), jumps: jumps.map((jump, k) => [...end(paths.length + k), ...jump])};
  });
  return data;
}
function stretch(table, count) {
  for (const key in table) if (key !== "entries" && !Array.isArray(table[key])) table[key] = Array(count).fill(table[key]);
}
/** What the right panel tells of a box; of one of a leaf's boxes what the first of them tells. */
function detail(i) {
  const {told, ...columns} = D.details, at = B.first[i] < 0 ? i : B.first[i], found = {};
  for (const key in columns) if (columns[key][at]) found[key] = told[columns[key][at]];
  return found;
}

function index(data) {
  D = data; B = D.boxes; A = D.arrows; G = D.groups; L = D.levels; T = D.texts;
  const n = B.kind.length, groups = G.kind.length;
  for (const [where, keys] of [[A, ["norm"]], [B, ["norm", "valueNorm"]], [G, ["norm"]]])
    for (const key of keys) where[key] = where[key].map(number);
  home = new Int32Array(n);
  for (let g = 0; g < groups; g++) for (const u of L[g].units) if (u >= 0) home[u] = g;
  into = Array.from({length: n}, () => []); from = Array.from({length: n}, () => []);
  A.src.forEach((s, a) => { from[s].push(a); into[A.dst[a]].push(a); });
  const copies = new Map();        // the boxes of each leaf
  for (let i = 0; i < n; i++) { const f = B.first[i] < 0 ? i : B.first[i]; (copies.get(f) || copies.set(f, []).get(f)).push(i); }
  uses = i => { const f = B.first[i] < 0 ? i : B.first[i]; return copies.get(f).flatMap(c => from[c]); };
  uses.boxes = i => copies.get(B.first[i] < 0 ? i : B.first[i]);
  timeline = [];
  builtAt = new Int32Array(n).fill(-1); backAt = new Int32Array(n).fill(-1);
  let waiting = [];                // in a large graph leaves and outputs come with an operation
  for (const i of D.build) {
    if (!D.small && B.kind[i] !== OP && B.kind[i] !== CUT && B.kind[i] !== 5) { B.kind[i] === LEAF || B.kind[i] === INPUT ? waiting.push(i) : (builtAt[i] = timeline.length - 1); continue; }
    for (const j of waiting) builtAt[j] = timeline.length;
    waiting = []; builtAt[i] = timeline.length; timeline.push(["build", i]);
  }
  for (const j of waiting) builtAt[j] = Math.max(0, timeline.length - 1);
  builds = timeline.length;
  for (const i of D.back) { if (!D.small && B.kind[i] === LEAF) continue; backAt[i] = timeline.length; timeline.push(["back", i]); }
  resting = D.level === 4 ? timeline.length : builds;  // where the page opens: the end of what was seen
  if (!D.small) for (const [first, own] of copies) if (B.kind[first] === LEAF) {
    let last = -1; for (const a of uses(first)) last = Math.max(last, backAt[A.dst[a]]);
    for (const i of own) backAt[i] = last;
  }
  D.problems.forEach((p, n) => p.push(p[2] >= 0 ? builtAt[p[2]] : 1 << 30, n));
  D.problems.sort((p, q) => p[5] - q[5] || p[6] - q[6]); // what came first is told first
  troubles = new Map(); for (const p of D.problems) if (p[2] >= 0 && !troubles.has(p[2])) troubles.set(p[2], p[0]);
  startOf = new Int32Array(groups).fill(1 << 30);
  for (let i = 0; i < n; i++) for (let g = home[i]; g >= 0; g = G.parent[g]) startOf[g] = Math.min(startOf[g], builtAt[i]);
}

const number = v => v === "nan" ? NaN : v === "inf" ? Infinity : v === "-inf" ? -Infinity : v;
const text = i => T[i] || "";
const opOf = i => text(B.op[i]);
const short = op => op.replace(/Backward\d*$/, "") || op;
const boxName = i => {
  const name = text(B.name[i]);
  if (B.kind[i] === OP || B.kind[i] === 5) return short(opOf(i)) || "opaque";
  if (B.kind[i] === CUT) return "✂ " + (name || short(opOf(i)) || "cut");
  return name || {1: "leaf", 2: "output", 3: "base", 6: text(B.value[i]) || "constant"}[B.kind[i]];
};
/** What a sentence calls it: an operation by the variable that has its result. */
const called = i => B.kind[i] === OP && text(B.name[i]) || boxName(i);
/** The name inside its card: a parameter without the module's path. */
const nameInCard = i => {
  const name = boxName(i);
  for (let g = home[i]; g > 0; g = G.parent[g]) if (G.path[g] && name.startsWith(G.path[g] + ".")) return name.slice(G.path[g].length + 1);
  return name;
};
const cardName = g => g === 0 ? "everything" : G.kind[g] === "loop" ? (G.cls[g] || "step") + " " + G.call[g]
  : G.kind[g] === "function" ? (G.name[g] || G.cls[g] || G.path[g]).replace(/(\(\))?$/, "()") : G.kind[g] === "span" ? "steps " + G.name[g] : G.name[g] || G.cls[g] || G.path[g] || "model";
const cardClass = g => G.kind[g] === "module" || G.kind[g] === "function" ? (G.name[g] && G.cls[g] && G.cls[g] !== G.name[g] && G.cls[g] !== "function" ? G.cls[g] : "") + (G.call[g] > 0 ? " (call " + (G.call[g] + 1) + ")" : "") : "";
/** What goes into a card and what comes out, and the size of its parameters. */
const cardShapes = g => text(G.takes[g]) || text(G.gives[g]) ? (text(G.takes[g]) + " → " + text(G.gives[g])).trim() : "";
const cardWeights = g => G.weights[g] ? count(G.weights[g], "parameter") : "";
const unitName = u => u < 0 ? cardName(-u) : boxName(u);

function round(v, digits = 4) {
  if (v == null) return "";
  if (!Number.isFinite(v)) return Number.isNaN(v) ? "nan" : v < 0 ? "-inf" : "inf";
  const a = Math.abs(v);
  return a !== 0 && (a < 1e-3 || a >= 1e6) ? v.toExponential(2).replace(/\.?0+e/, "e").replace("e+", "e") : String(+v.toPrecision(digits));
}
function size(bytes) {
  if (bytes == null) return "";
  for (const unit of ["B", "KB", "MB", "GB"]) { if (bytes < 1024 || unit === "GB") return (bytes < 10 && unit !== "B" ? bytes.toFixed(1) : Math.round(bytes)) + " " + unit; bytes /= 1024; }
}
const count = (n, noun) => n.toLocaleString("en") + " " + noun + (n === 1 ? "" : "s");

/** The gradient on an arrow as short text. */
const flowText = a => text(A.grad[a]) && text(A.grad[a]).length <= 14 ? text(A.grad[a]) : A.norm[a] != null ? "|" + round(A.norm[a], 3) + "|" : "";
const gradText = i => text(B.grad[i]) && text(B.grad[i]).length <= 18 ? text(B.grad[i]) : B.norm[i] != null ? "|" + round(B.norm[i], 3) + "|" : "";

/** What has arrived at a leaf: "3 + 1 = 4"; what is still on its way is an ellipsis. */
function sumText(i, step) {
  const arrows = uses(i).filter(a => A.kind[a] === 0);
  if (!arrows.length || arrows.length > 6) return gradText(i) && backAt[i] >= 0 && backAt[i] < step ? gradText(i) : "";
  arrows.sort((a, b) => builtAt[A.dst[a]] - builtAt[A.dst[b]] || A.slot[a] - A.slot[b]);
  const here = arrows.map(a => backAt[A.dst[a]] >= 0 && backAt[A.dst[a]] < step);
  const terms = arrows.map(flowText);
  if (!here.some(Boolean) || !terms.some(Boolean)) return "";
  if (arrows.length === 1) return terms[0];
  if (terms.some(t => !t || t[0] === "|")) // norms do not add up
    return here.every(Boolean) ? gradText(i) : `${here.filter(Boolean).length} of ${arrows.length} arrived`;
  if (!here.every(Boolean)) return terms.map((t, k) => here[k] ? t : "…").join(" + ");
  let total = gradText(i);
  if (!total && terms.every(t => isFinite(+t))) total = round(terms.reduce((s, t) => s + +t, 0));
  return terms.join(" + ").replace(/\+ -/g, "− ") + (total ? " = " + total : "");
}
