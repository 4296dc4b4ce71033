// Coordinates: rows and their order come from Python; here everything gets its size and its place.
const PAD = 14, HEAD = 24, FONT = "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";
const TITLE = "600 12.5px " + FONT, SUB = "11px " + FONT, NUM = "600 11.5px " + FONT;
const opened = new Set([0]);
let sideways = false, longest = 0, lay = new Map(), items = [], wires = [], stubs = [], spot = new Map(), extent = {w: 0, h: 0};
const widths = new Map();
let pen = $("canvas").getContext("2d");

function wide(font, string) {
  const key = font[0] + font.length + string;
  let w = widths.get(key);
  if (w === undefined) { pen.font = font; widths.set(key, w = pen.measureText(string).width); }
  return w;
}
const secondLine = i => { const own = B.kind[i] === OP ? text(B.name[i]) : "", rest = valueLine(i); return own && rest === "scalar" ? own : own && rest ? own + " " + rest : own || rest; };
const valueLine = i => { const v = text(B.value[i]); return v && v === boxName(i) ? "" : v && v.length <= 24 ? (D.small || B.kind[i] === OP && text(B.name[i]) ? "= " : "") + v : text(B.shape[i]) && text(B.shape[i]) !== "()" ? text(B.shape[i]) : B.kind[i] === CUT ? text(B.op[i]) : text(B.shape[i]) ? "scalar" : ""; };
const thirdLine = (i, step) => !D.small ? "" : B.kind[i] === LEAF ? sumText(i, step) : gradText(i);

const sinkLine = i => D.small && B.kind[i] === LEAF && B.sink[i] >= 0 ? opOf(i) : "";

const CROWD = 12;               // more ports than this are drawn as one
const rowGap = () => !D.small ? 30 : B.kind.length > 9 ? sideways ? 54 : 31 : sideways ? 70 : 50;
const sizes = new Map();
function boxSize(i) {
  let s = sizes.get(i);
  if (!s) {
    const end = 1 << 30, third = thirdLine(i, end), sink = sinkLine(i);
    const w = Math.max(wide(TITLE, nameInCard(i)), wide(SUB, secondLine(i)), third ? wide(NUM, "grad " + third) : 0, wide(SUB, sink));
    const h = 25 + (secondLine(i) ? 15 : 2) + (third || sink ? 16 : 0);
    const fan = D.small && !sideways && into[i].length > 2 ? Math.min(into[i].length, 8) * 46 : 0;
    sizes.set(i, s = [Math.max(w + (B.kind[i] === LEAF || B.kind[i] === INPUT ? 28 : 22), 52, fan), h]);
  }
  return s;
}
const cardNote = g => [cardShapes(g) || count(G.count[g], "node"), cardWeights(g) || (G.bytes[g] ? size(G.bytes[g]) : "")].filter(Boolean).join(" · ");
function closedSize(g) { return [Math.max(wide(TITLE, cardName(g) + "  " + cardClass(g) + "▸  ") + 30, wide(SUB, cardNote(g)) + 30, 96), 46]; }

/** Lay out the inside of an open card (those within it first); its width and height. */
function layOut(g) {
  if (lay.has(g)) return;
  const level = L[g], units = level.units, n = units.length, ins = level.in.length, outs = level.out.length;
  const total = level.rows.reduce((s, r) => s + r.length, 0), inner = new Array(n);
  const sm = new Float64Array(total), sc = new Float64Array(total), at = new Float64Array(total), c = new Float64Array(total), rowOf = new Int32Array(total);
  for (let k = 0; k < total; k++) {
    let w = 3, h = 3;
    if (k < n) {
      const u = units[k];
      if (u < 0 && opened.has(-u)) { layOut(-u); inner[k] = lay.get(-u); [w, h] = [inner[k].w, inner[k].h]; }
      else [w, h] = u < 0 ? closedSize(-u) : boxSize(u);
      sm[k] = sideways ? w : h; sc[k] = sideways ? h : w;
    } else { sm[k] = 0; sc[k] = k >= n + ins + outs ? 4 : (k < n + ins ? ins : outs) > CROWD ? 0 : 10; }
  }
  level.rows.forEach((row, r) => row.forEach(k => { rowOf[k] = r; }));
  const links = [], chain = RUNS.has(G.kind[g]); // cards in lanes stand below each other there, whatever side their lines leave at
  for (const [net, , path] of level.lines) for (let k = 1; k < path.length; k++) {
    const a = path[k - 1], b = path[k];
    links.push([a, b, inner[a] && !(chain && inner[a].lanes) ? inner[a].outAt.get(net) || 0 : 0, inner[b] && !(chain && inner[b].lanes) ? inner[b].inAt.get(net) || 0 : 0]);
  }
  spread(level.rows, ins === 1 && outs === 1 ? links.concat([[n, n + 1, 0, 0]]) : links, sc, c, n, total, ins); // one in, one out: a chain of cards stays straight
  if (outs > CROWD) for (let q = n + ins; q < n + ins + outs; q++) { const end = level.rows[level.rows.length - 2]; if (end && end.length) c[q] = c[end[0]]; }
  // rows along the main direction
  const reach = new Float64Array(level.rows.length), top = [], bottom = [];
  for (const [a, b, oa, ob] of links) reach[rowOf[a]] = Math.max(reach[rowOf[a]], Math.abs(c[a] + oa - c[b] - ob));
  let m = 0;
  level.rows.forEach((row, r) => {
    let tall = 0; for (const k of row) tall = Math.max(tall, sm[k]);
    top.push(m); m += tall; bottom.push(m);
    if (r < level.rows.length - 1) m += (tall === 0 || (r + 1 === level.rows.length - 1 && outs) ? 14 : rowGap()) + Math.min(0.07 * reach[r], 60);
  });
  if (ins === 1 && outs === 1 && Math.abs(c[n] - c[n + 1]) < 40) c[n] = c[n + 1] = (c[n] + c[n + 1]) / 2;
  const rows = {list: level.rows, top, bottom, c, sc, rowOf, links, ins, outs}, lanes = lanesOf(g, m, rows);
  if (lanes) m = inLanes(lanes, rows);
  for (let k = 0; k < total; k++) at[k] = (top[rowOf[k]] + bottom[rowOf[k]] - sm[k]) / 2;
  let low = Infinity, high = -Infinity;
  for (let k = 0; k < total; k++) { low = Math.min(low, c[k] - sc[k] / 2); high = Math.max(high, c[k] + sc[k] / 2); }
  if (!total) low = high = 0;
  const head = g === 0 ? 0 : HEAD, title = g === 0 ? 0 : wide(TITLE, "▾ " + cardName(g)) + wide(SUB, "  " + cardClass(g)) + (G.kind[g] === "module" && n < 40 ? wide(SUB, "  " + cardNote(g)) : 0) + 36;
  let w, h, m0, c0;                 // where the inside begins
  const before = ins ? 5 : PAD, after = outs ? 5 : PAD;
  if (sideways) { w = Math.max(m + before + after, title); h = high - low + head + 2 * PAD; m0 = before + (w - m - before - after) / 2; c0 = head + PAD - low; }
  else { w = Math.max(high - low + 2 * PAD, title); h = m + head + before + after; m0 = head + before; c0 = (w - high + low) / 2 - low; }
  const middle = (sideways ? h : w) / 2, inAt = new Map(), outAt = new Map();
  level.in.forEach((net, k) => inAt.set(net, c0 + c[n + k] - middle));
  level.out.forEach((net, k) => outAt.set(net, c0 + c[n + ins + k] - middle));
  lay.set(g, {w, h, m0, c0, at, c, sm, sc, rowOf, top, bottom, inner, inAt, outAt, n, ins, outs, lanes});
}

const RUNS = new Set(["fold", "span"]);
/** The row that ends each lane of a long list of rows, which is broken as text is broken into lines; null for none.
    A break comes where few lines pass, and so that the card gets about the shape of a page. */
function lanesOf(g, m, rows) {
  const list = rows.list, first = rows.ins ? 1 : 0, end = list.length - (rows.outs ? 2 : 1);
  if (m < (longest || (RUNS.has(G.kind[g]) ? 800 : end - first > 20 ? 1600 : 2600)) || end - first < 2) return null;
  const {top, bottom, c, sc} = rows, tall = (r, t) => bottom[t] - top[r];
  let broad = 0, sum = 1; // how broad the rows are, on the average
  const breadth = list.map((row, r) => {
    let low = Infinity, high = -Infinity;
    for (const k of row) { low = Math.min(low, c[k] - sc[k] / 2); high = Math.max(high, c[k] + sc[k] / 2); }
    if (row.length) { broad += (high - low) * tall(r, r); sum += tall(r, r); }
    return row.length ? high - low : 0;
  });
  if (m < (longest ? 1.2 : 1.8) * broad / sum || list.some((_, r) => tall(r, r) > .6 * m)) return null;
  const passing = list.map(() => new Set()), count = end - first + 1, whole = tall(first, end);
  for (const [a, b] of rows.links) passing[rows.rowOf[a]].add(a * 1e6 + b);
  const cut = ideal => {
    const ends = []; let from = first, length = 0, across = 0, used = 0;
    const close = last => {
      let wide = 0; for (let r = from; r <= last; r++) wide = Math.max(wide, breadth[r]);
      length = Math.max(length, tall(from, last)); across += wide + 44; used += tall(from, last) * (wide + 44); from = last + 1;
    };
    while (tall(from, end) > 1.25 * ideal) {
      let best = -1, least = Infinity;
      for (let r = from; r < end; r++) {
        const long = tall(from, r), lines = passing[r].size;
        if (long > 1.4 * ideal && best >= 0 || tall(r + 1, end) < .3 * ideal) break;
        const cost = Math.abs(long - ideal) / ideal + .45 * (lines - 1);
        if (lines <= 6 && long > .3 * ideal && cost < least) { least = cost; best = r; }
      }
      if (best < 0) break;
      ends.push(best); close(best);
    }
    close(end);
    return [Math.log(Math.max(length, across * (sideways ? 1.25 : .85))) + .06 * (length * across / used - 1), ends]; // how small it is drawn to fit, and how much stays empty
  };
  let [off, ends] = longest ? cut(whole / Math.ceil(m / longest)) : [Infinity, []];
  for (let p = 1; p <= count && !longest; p = Math.max(p + 1, Math.floor(p * 1.06))) { // about so many rows a lane
    const [miss, found] = cut(whole * p / count);
    if (miss < off) [off, ends] = [miss, found];
  }
  return ends.length ? {ends, passing, of: null, ways: new Map(), first} : null;
}
const TRACK = 8;
/** Put the lanes side by side, and find the way of each line from the end of one to the beginning of the next; the length. */
function inLanes(lanes, rows) {
  const {list, top, bottom, c, sc} = rows, n = list.length, of = lanes.of = new Int32Array(n);
  for (let r = 0, j = 0; r < n; r++) { of[r] = j; if (lanes.ends[j] === r) j++; }
  const count = lanes.ends.length + 1, low = new Array(count).fill(Infinity), high = new Array(count).fill(-Infinity);
  list.forEach((row, r) => { for (const k of row) { low[of[r]] = Math.min(low[of[r]], c[k] - sc[k] / 2); high[of[r]] = Math.max(high[of[r]], c[k] + sc[k] / 2); } });
  const pairs = lanes.ends.map(r => [...lanes.passing[r]].map(v => [Math.floor(v / 1e6), v % 1e6]).sort((a, b) => c[b[0]] - c[a[0]]));
  const most = Math.max(...pairs.map(p => p.length)), lead = 26 + TRACK * most, start = top[lanes.first] + lead;
  let at = 0, length = 0, begin = 0;
  const move = [];
  for (let j = 0; j < count; j++) { move[j] = at - low[j]; at += high[j] - low[j] + 24 + (j < count - 1 ? TRACK * (pairs[j].length + 1) : 0); }
  list.forEach((row, r) => {
    if (!r || of[r] !== of[r - 1]) begin = of[r] ? top[r] : top[lanes.first];
    if (r >= lanes.first) { const by = start - begin; top[r] += by; bottom[r] += by; length = Math.max(length, bottom[r] + (r === lanes.ends[of[r]] ? 14 + TRACK * pairs[of[r]].length : 0)); }
    for (const k of row) c[k] += move[of[r]];
  });
  lanes.ends.forEach((r, j) => pairs[j].forEach(([a, b], t) => {
    const gutter = high[j] + move[j] + 12 + TRACK * (t + 1);
    lanes.ways.set(a * 1e6 + b, [bottom[r] + 10 + TRACK * t, gutter, start - lead + 2 + TRACK * (t + 1)]);
  }));
  return length;
}

/** Places across the rows: each row in its given order, as near to its neighbours as fits (pooled adjacent violators). */
function spread(rows, links, sc, c, n, total, ins) {
  const m = links.length, first = [new Int32Array(total + 1), new Int32Array(total + 1)], other = [new Int32Array(m), new Int32Array(m)], off = [new Float64Array(m), new Float64Array(m)];
  const behind = new Int32Array(total), ahead = new Int32Array(total), up = new Int32Array(total).fill(-1), down = new Int32Array(total).fill(-1);
  for (const [a, b] of links) { first[0][b + 1]++; first[1][a + 1]++; } // 0: the links to the row before, 1: to the row after
  for (const side of first) for (let k = 0; k < total; k++) side[k + 1] += side[k];
  const fill = [first[0].slice(), first[1].slice()];
  for (const [a, b, oa, ob] of links) {
    let i = fill[0][b]++; other[0][i] = a; off[0][i] = oa - ob;
    i = fill[1][a]++; other[1][i] = b; off[1][i] = ob - oa;
  }
  // the main way, which is to be straight: to each the maker with the most before it, to that the user with the most after it
  const walk = (order, side, far, fits, main) => { for (const row of order) for (const k of row) {
    for (let i = first[side][k]; i < first[side][k + 1]; i++) { const o = other[side][i]; if (fits(o, k) && (main[k] < 0 || far[o] > far[main[k]])) main[k] = o; far[k] = Math.max(far[k], far[o]); }
    far[k] += k < n ? 1 : !side && k < n + ins ? total : 0;
  } };
  walk(rows, 0, behind, () => true, up); walk(rows.slice().reverse(), 1, ahead, (o, k) => up[o] === k, down);
  const gap = (a, b) => a < n && b < n ? (D.small ? 30 : 20) : sc[a] + sc[b] === 0 ? 0 : 12;
  const seps = rows.map(row => { const sep = new Float64Array(row.length); for (let i = 1; i < row.length; i++) sep[i] = sep[i - 1] + (sc[row[i - 1]] + sc[row[i]]) / 2 + gap(row[i - 1], row[i]); return sep; });
  rows.forEach((row, r) => { const half = row.length ? seps[r][row.length - 1] / 2 : 0; row.forEach((k, i) => { c[k] = seps[r][i] - half; }); });
  let want = 0, weight = 0;
  const ask = (k, side) => { for (let i = first[side][k], e = first[side][k + 1]; i < e; i++) { const o = other[side][i], f = down[k] === o || down[o] === k ? 9 : k >= n && o >= n ? 6 : k >= n || o >= n ? 2 : 1; want += (c[o] + off[side][i]) * f; weight += f; } };
  const sweeps = total > 3000 ? 6 : 12, sum = [], mass = [], start = [];
  for (let s = 0, moved = 0; s <= sweeps; s++) {
    if (s % 2 === 0) { if (s && moved < .2) s = sweeps; moved = 0; }
    for (let q = 0; q < rows.length; q++) {
      const r = s % 2 && s < sweeps ? rows.length - 1 - q : q, row = rows[r], sep = seps[r]; let top = 0;
      for (let i = 0; i < row.length; i++) {
        const k = row[i]; want = weight = 0;
        if (s === sweeps || s % 2 === 0) ask(k, 0);
        if (s === sweeps || s % 2) ask(k, 1);
        if (!weight) { want = c[k] * .05; weight = .05; }
        let total = want - sep[i] * weight, from = i;
        while (top && sum[top - 1] / mass[top - 1] > total / weight) { top--; total += sum[top]; weight += mass[top]; from = start[top]; }
        sum[top] = total; mass[top] = weight; start[top++] = from;
      }
      for (let p = 0; p < top; p++) for (let i = start[p], e = p + 1 < top ? start[p + 1] : row.length; i < e; i++) {
        const to = sum[p] / mass[p] + sep[i], by = Math.abs(to - c[row[i]]); if (by > moved) moved = by; c[row[i]] = to;
      }
    }
  }
  // each main way onto as few straight lines as there is room for
  const room = new Map(); // how far an item may move
  rows.forEach((row, r) => row.forEach((k, i) => room.set(k, () => [i ? c[row[i - 1]] + seps[r][i] - seps[r][i - 1] : -Infinity, i < row.length - 1 ? c[row[i + 1]] - seps[r][i + 1] + seps[r][i] : Infinity])));
  for (let pass = 0; pass < 3; pass++) for (let k = 0; k < total; k++) if (up[k] < 0 || down[up[k]] !== k) {
    let run = [], low = -Infinity, high = Infinity, sum = 0, bend = 0;
    const lie = () => { const x = Math.max(low, Math.min(high, sum / run.length)); for (const [o, d] of run) c[o] = x + d; };
    for (let o = k; o >= 0; o = down[o]) {
      const [from, to] = room.get(o)();
      if (run.length && Math.max(low, from - bend) > Math.min(high, to - bend)) { lie(); run = []; low = -Infinity; high = Infinity; sum = bend = 0; }
      run.push([o, bend]); low = Math.max(low, from - bend); high = Math.min(high, to - bend); sum += c[o] - bend;
      for (let i = first[1][o]; i < first[1][o + 1]; i++) if (other[1][i] === down[o]) { bend -= off[1][i]; break; }
    }
    lie();
  }
}

/** Everything at its place on the plane: `items` (cards before what is in them), `wires`, `stubs`. Where only `changed`
    were opened or closed, the inside of all other cards stays as it is, and is moved. */
function relayout(changed) {
  if (!changed) { if (D.small) sizes.clear(); lay = new Map(); }
  else for (const c of changed) for (let g = c; g >= 0; g = G.parent[g]) lay.delete(g);
  items = []; wires = []; stubs = []; spot = new Map();
  layOut(0);
  const root = lay.get(0); extent = {w: root.w, h: root.h};
  flatten(0, 0, 0, 0);
}

function flatten(g, x0, y0, depth) {
  const p = lay.get(g);
  if (p.own) shift(p.own, x0 - p.own.x, y0 - p.own.y); else { p.own = {x: x0, y: y0, items: [], wires: [], stubs: [], opens: [], at: null}; fillIn(g, p, x0, y0, depth); }
  for (const it of p.own.items) { items.push(it); spot.set(it.u, it); }
  for (const w of p.own.wires) wires.push(w);
  for (const s of p.own.stubs) stubs.push(s);
  for (const [u, x, y] of p.own.opens) flatten(u, x, y, depth + 1);
}
function shift(own, dx, dy) {
  own.x += dx; own.y += dy;
  if (!dx && !dy) return;
  for (const it of own.items) { it.x += dx; it.y += dy; }
  for (const w of own.wires) { const p = w.pts, b = w.box; for (let i = 0; i < p.length; i += 2) { p[i] += dx; p[i + 1] += dy; } b[0] += dx; b[2] += dx; b[1] += dy; b[3] += dy; }
  for (const s of own.stubs) { s.p = [s.p[0] + dx, s.p[1] + dy]; s.q = [s.q[0] + dx, s.q[1] + dy]; s.area = null; }
  for (const o of own.opens) { o[1] += dx; o[2] += dy; }
}
/** The line in card `g` that brings a value to its item `t`. */
function wireAt(g, t, net, arrow) {
  const own = lay.has(g) && lay.get(g).own; if (!own) return undefined;
  if (!own.at) { own.at = new Map(); for (const [b, net, arrow, i] of own.ways) own.at.set(b + "|" + net + "|" + arrow, own.wires[i]); }
  return own.at.get(t + "|" + net + "|" + arrow);
}

function fillIn(g, p, x0, y0, depth) {
  const {items, wires, opens} = p.own, ways = p.own.ways = [];
  const level = L[g], place = (m, c) => sideways ? [x0 + p.m0 + m, y0 + p.c0 + c] : [x0 + p.c0 + c, y0 + p.m0 + m];
  if (g) items.push({u: -g, open: true, x: x0, y: y0, w: p.w, h: p.h, depth});
  level.units.forEach((u, k) => {
    const [x, y] = place(p.at[k], p.c[k] - p.sc[k] / 2), w = sideways ? p.sm[k] : p.sc[k], h = sideways ? p.sc[k] : p.sm[k];
    if (p.inner[k]) opens.push([-u, x, y]);
    else items.push({u, open: false, x, y, w, h, depth: depth + 1});
  });
  // where lines leave and arrive
  const leave = new Map(), arrive = new Map(), ends = new Map();
  const bundles = new Map(), lead = new Map();  // many lines between a closed card and one thing are drawn as one
  const closed = q => q < p.n && level.units[q] < 0 && !p.inner[q], key = path => path[0] + ":" + path[path.length - 1];
  for (const [i, [, , path]] of level.lines.entries()) if (path.length === 2 && (closed(path[0]) || closed(path[1]) || [0, 1].some(q => p.inner[path[q]] && (q ? p.inner[path[q]].ins : p.inner[path[q]].outs) > CROWD)) && path.every(q => q < p.n)) (bundles.get(key(path)) || bundles.set(key(path), []).get(key(path))).push(i);
  for (const list of bundles.values()) if (list.length > 3) for (const i of list) lead.set(i, list[0]);
  const follows = i => lead.has(i) && lead.get(i) !== i;
  level.lines.forEach(([net, arrow, path], i) => {
    if (follows(i)) return;
    const a = path[0], b = path[path.length - 1];
    if (p.inner[b]) arrive.set(i, p.inner[b].inAt.get(net) || 0);
    else if (b < p.n) (ends.get(b) || ends.set(b, []).get(b)).push([p.c[path[path.length - 2]] + (path.length === 2 && p.inner[a] ? p.inner[a].outAt.get(net) || 0 : 0), A.slot[arrow] || 0, i]);
    if (p.inner[a]) leave.set(i, p.inner[a].outAt.get(net) || 0);
  });
  for (const [b, list] of ends) {
    list.sort((s, t) => s[0] - t[0] || s[1] - t[1]);
    const step = Math.min(!D.small ? 14 : list.length > 2 && !sideways ? 46 : 26, (p.sc[b] - 20) / Math.max(1, list.length - 1));
    list.forEach(([, , i], k) => arrive.set(i, list.length > 1 ? (k - (list.length - 1) / 2) * step : 0));
  }
  const nets = new Map();           // a closed card with several values going out
  level.lines.forEach(([net, , path], i) => { const a = path[0]; if (!follows(i) && a < p.n && level.units[a] < 0 && !p.inner[a]) (nets.get(a) || nets.set(a, new Map()).get(a)).set(net, p.c[path[1]]); });
  for (const [a, map] of nets) if (map.size > 1) {
    const sorted = [...map].sort((s, t) => s[1] - t[1]), step = Math.min(14, (p.sc[a] - 20) / (sorted.length - 1));
    sorted.forEach(([net], k) => map.set(net, (k - (sorted.length - 1) / 2) * step));
    level.lines.forEach(([net, , path], i) => { if (path[0] === a) leave.set(i, map.get(net)); });
  }
  const firstOf = new Map();
  level.lines.forEach(([net, arrow, path], i) => {
    const a = path[0], b = path[path.length - 1], pts = [], turns = []; let before = 0;
    if (follows(i)) { ways.push([b, net, arrow, firstOf.get(lead.get(i))]); return; }
    firstOf.set(i, wires.length);
    const go = (m, c) => { const [x, y] = place(m, c), l = pts.length; if (!l || Math.abs(pts[l - 2] - x) + Math.abs(pts[l - 1] - y) > .4) pts.push(x, y); };
    path.forEach((k, s) => {
      const r = p.rowOf[k], last = s === path.length - 1, off = s === 0 ? leave.get(i) || 0 : last ? arrive.get(i) || 0 : 0, c = p.c[k] + off;
      if (s === 0) { go(k >= p.n ? -p.m0 : p.at[k] + p.sm[k], c); go(p.bottom[r], c); }
      else {
        const way = p.lanes && p.lanes.ways.get(path[s - 1] * 1e6 + k);
        if (way) { go(way[0], before); go(way[0], way[1]); turns.push(pts.length - 2); go(way[2], way[1]); go(way[2], c); }
        go(p.top[r], c); go(last ? (k >= p.n ? (sideways ? p.w : p.h) - p.m0 : p.at[k]) : p.bottom[r], c);
      }
      before = c;
    });
    const wire = {g, net, arrow, pts, head: b < p.n && !p.inner[b], kind: net % 3, src: (net - net % 3) / 3, box: bounds(pts), to: b < p.n ? level.units[b] : 0, turns, many: lead.has(i) ? bundles.get(key(path)).length : 0};
    ways.push([b, net, arrow, wires.length]); wires.push(wire);
  });
  stubsOf(g, level, p, place, p.own.stubs);
}

function bounds(pts) {
  let x0 = Infinity, y0 = Infinity, x1 = -Infinity, y1 = -Infinity;
  for (let i = 0; i < pts.length; i += 2) { x0 = Math.min(x0, pts[i]); x1 = Math.max(x1, pts[i]); y0 = Math.min(y0, pts[i + 1]); y1 = Math.max(y1, pts[i + 1]); }
  return [x0, y0, x1, y1];
}

/** Lines too long to draw: a short end at either side, telling what is at the other. */
function stubsOf(g, level, p, place, stubs) {
  const outs = new Map(), ins = new Map();
  for (const [net, arrow, a, b] of level.jumps) {
    const key = a + ":" + net;
    (outs.get(key) || outs.set(key, []).get(key)).push([net, arrow, a, b]);
    (ins.get(b) || ins.set(b, []).get(b)).push([net, arrow, a, b]);
  }
  if (p.outs > CROWD) for (const [key, list] of outs) { // into ports drawn as one: only the value's own end is shown
    const kept = list.filter(j => j[3] < p.n + p.ins);
    if (!kept.length) outs.set(key, [list[0]]);
  }
  if (p.outs > CROWD) for (const b of [...ins.keys()]) if (b >= p.n) ins.delete(b);
  if (p.ins > CROWD) for (const key of [...outs.keys()]) if (parseInt(key) >= p.n) outs.delete(key);
  const within = u => { for (let h = home[u]; h >= 0; h = G.parent[h]) if (h === g) return true; return false; };
  const goal = (net, arrow, b) => b < p.n ? level.units[b] : from[(net - net % 3) / 3].map(a => A.dst[a]).find(u => !within(u)) ?? -g;
  for (const list of outs.values()) {
    const [net, arrow, a, b] = list[0], port = a >= p.n, c = p.c[a] + (port ? 0 : Math.min(p.sc[a] / 2 - 9, sideways ? 12 : 26));
    const m = port ? -p.m0 : p.at[a] + p.sm[a], to = list.map(j => goal(j[0], j[1], j[3]));
    stubs.push({out: true, kind: net % 3, p: place(m, c), q: place(port ? 6 : m + 11, c), text: to.length > 1 ? to.length + " uses" : unitName(to[0]), go: to[0], w: p.sc[a], src: (net - net % 3) / 3});
  }
  for (const [b, list] of ins) {
    const [net] = list[0], port = b >= p.n, c = p.c[b] - (port ? 0 : Math.min(p.sc[b] / 2 - 9, sideways ? 12 : 26)), m = port ? (sideways ? p.w : p.h) - p.m0 : p.at[b];
    const src = (net - net % 3) / 3;
    stubs.push({out: false, kind: net % 3, p: place(m - 13, c), q: place(m, c), text: list.length > 1 ? list.length + " values" : boxName(src), go: src, w: p.sc[b], src, head: !port});
  }
}
// The way of one arrow through the cards: the wires that show it, from its source to its end.
const lineMaps = new Map(), itemMaps = new Map();

function linesInto(g) {
  let map = lineMaps.get(g);
  if (!map) {
    map = new Map();
    for (const [net, arrow, path] of L[g].lines) map.set(path[path.length - 1] + "|" + net + "|" + arrow, path[0]);
    for (const [net, arrow, a, b] of L[g].jumps) map.set(b + "|" + net + "|" + arrow, a);
    lineMaps.set(g, map);
  }
  return map;
}
function itemOf(g, unit) {
  let map = itemMaps.get(g);
  if (!map) itemMaps.set(g, map = new Map(L[g].units.map((u, k) => [u, k])));
  return map.get(unit);
}

function route(arrow) {
  const net = 3 * A.src[arrow] + A.kind[arrow], found = [];
  let g = home[A.dst[arrow]], t = itemOf(g, A.dst[arrow]), number = arrow;
  for (let guard = 0; guard < 200; guard++) {
    const wire = wireAt(g, t, net, number);
    if (wire) found.push(wire);
    const s = linesInto(g).get(t + "|" + net + "|" + number), level = L[g], n = level.units.length;
    if (s === undefined) break;
    number = -1;
    if (s >= n) { t = itemOf(G.parent[g], -g); g = G.parent[g]; if (g < 0 || t === undefined) break; }
    else if (level.units[s] < 0) { const h = -level.units[s]; t = L[h].units.length + L[h].in.length + L[h].out.indexOf(net); g = h; }
    else break;
  }
  return found.reverse();
}

/** The point at share `f` of a route, going back from its end to its source. */
function along(list, f) {
  const runs = list.map(w => samples(w)).reverse();
  let total = 0; for (const r of runs) total += r.length;
  let want = f * total;
  for (const r of runs) { if (want <= r.length) return r.at(want / (r.length || 1)); want -= r.length; }
  const last = runs[runs.length - 1]; return last ? last.at(1) : null;
}
function samples(wire) {
  const pts = wire.pts, poly = [];
  for (let i = 0; i + 3 < pts.length; i += 2) {
    const [x, y, u, v] = [pts[i], pts[i + 1], pts[i + 2], pts[i + 3]], straight = x === u || y === v;
    for (let s = 0; s <= (straight ? 1 : 8); s++) {
      const t = straight ? s : s / 8, e = t * t * (3 - 2 * t), f = t * t * t + 1.5 * t * (1 - t);
      poly.push(sideways ? [x + (u - x) * f, y + (v - y) * e] : [x + (u - x) * e, y + (v - y) * f]);
    }
  }
  poly.reverse();
  const sum = [0];
  for (let i = 1; i < poly.length; i++) sum.push(sum[i - 1] + Math.hypot(poly[i][0] - poly[i - 1][0], poly[i][1] - poly[i - 1][1]));
  const length = sum[sum.length - 1] || 0;
  return {length, before(d) { // the point that far from the end in the direction of the rows
    const c = sideways ? 0 : 1, i = poly.findIndex(p => Math.abs(p[c] - poly[0][c]) >= d);
    if (i < 1) return poly[poly.length >> 1];
    const a = poly[i - 1], b = poly[i], f = (d - Math.abs(a[c] - poly[0][c])) / (Math.abs(b[c] - a[c]) || 1);
    return [a[0] + (b[0] - a[0]) * f, a[1] + (b[1] - a[1]) * f];
  }, at(t) {
    const d = t * length; let i = 1; while (i < sum.length - 1 && sum[i] < d) i++;
    const a = poly[i - 1], b = poly[i] || a, k = (d - sum[i - 1]) / ((sum[i] - sum[i - 1]) || 1);
    return [a[0] + (b[0] - a[0]) * k, a[1] + (b[1] - a[1]) * k];
  }};
}
