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
