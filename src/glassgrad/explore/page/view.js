// What is looked at: pan and zoom, what is selected, what is open, which step it is.
const canvas = $("canvas"), calm = matchMedia("(prefers-reduced-motion: reduce)");
let k = 1, tx = 0, ty = 0, W = 0, H = 0, selected = null, step = 0, colour = "kind", hits = new Set(), lit = new Set(), pulse = null, glide = null;

function fit(whole = true) {
  const most = D.small ? 1.6 : 1.15, scale = Math.min((W - 32) / extent.w, (H - 32) / extent.h, most);
  k = whole ? scale : Math.max(scale, .55);
  tx = (W - extent.w * k) / 2; ty = (H - extent.h * k) / 2;
  if (!whole && extent.h * k > H) ty = 16;
  if (!whole && extent.w * k > W) tx = sideways ? 16 : Math.min(16, Math.max(W - 16 - extent.w * k, W / 2 - beginning() * k));
  draw();
}
/** Where across the page the graph begins: at the left in one that is laid in lanes. */
function beginning() {
  const top = items.filter(i => !i.open).reduce((a, b) => b.y < a.y ? b : a);
  return top.x + top.w / 2;
}
function zoomAt(factor, x = W / 2, y = H / 2) {
  const to = Math.min(4, Math.max(.004, k * factor)); factor = to / k;
  tx = x - (x - tx) * factor; ty = y - (y - ty) * factor; k = to; draw();
}
/** Bring an item into sight: glide there unless motion is unwelcome. */
function centre(u) {
  const it = spot.get(u); if (!it) return;
  const scale = Math.min(Math.max(k, it.open ? .1 : .75), it.open ? Math.min((W - 40) / it.w, (H - 40) / it.h, 1.2) : 4);
  const aim = [scale, W / 2 - (it.x + it.w / 2) * scale, H / 2 - (it.y + it.h / 2) * scale];
  glideTo(aim, 260);
}
function glideTo(aim, ms) {
  if (calm.matches || ms < 100) { glide = null; [k, tx, ty] = aim; return draw(); }
  const origin = [k, tx, ty], began = performance.now();
  const move = glide = now => {
    if (glide !== move) return;
    const t = Math.min(1, Math.max(0, (now - began) / ms)), e = t * (2 - t);
    [k, tx, ty] = origin.map((v, i) => v + (aim[i] - v) * e); draw();
    if (t < 1) requestAnimationFrame(move); else glide = null;
  };
  requestAnimationFrame(move);
}
const inSight = it => it && it.x * k + tx > -it.w * k * .5 && (it.x + it.w) * k + tx < W + it.w * k * .5 && it.y * k + ty > -it.h * k * .5 && (it.y + it.h) * k + ty < H + it.h * k * .5;

const parentOf = u => u < 0 ? G.parent[-u] : home[u];
/** The item that shows a unit now: itself, or the closed card around it. */
function shownAs(u) {
  if (u == null) return null;
  let top = u;
  for (let g = parentOf(u); g > 0; g = G.parent[g]) if (!opened.has(g)) top = -g;
  return top;
}
function toggle(g, open = !opened.has(g)) {
  const before = spot.get(-g), was = before && [before.x, before.y, before.w];
  open ? opened.add(g) : opened.delete(g);
  relayout([g]);
  const after = spot.get(-g);
  if (was && after) { tx += (was[0] + was[2] / 2 - after.x - after.w / 2) * k; ty += (was[1] - after.y) * k; }
  if (open && after) { // what was opened is shown whole, where that leaves it legible
    const [x, y, w, h] = [after.x * k + tx, after.y * k + ty, after.w * k, after.h * k], whole = x >= 0 && y >= 0 && x + w <= W && y + h <= H;
    if (!whole && Math.min((W - 40) / after.w, (H - 40) / after.h) > .42) centre(-g);
  }
  if (shownAs(selected) !== selected && selected != null) select(-g, false); else { draw(); if (selected === -g) inspect(); }
  tell();
}
function reveal(u) {
  const changed = [];
  for (let g = parentOf(u); g > 0; g = G.parent[g]) if (!opened.has(g)) { opened.add(g); changed.push(g); }
  if (changed.length) relayout(changed);
}
function select(u, go = true) {
  selected = u; stepping = false;
  if (u != null && go) { reveal(u); if (!inSight(spot.get(u)) || k < .4) centre(u); }
  lit.clear(); draw(); inspect(); tell(); markTree();
}
function openAll(yes) {
  opened.clear(); opened.add(0);
  if (yes) {
    if (D.boxes.kind.length > 20000 && !confirm("Draw all " + D.boxes.kind.length.toLocaleString("en") + " nodes at once? It may be slow.")) return relayout(), fit();
    for (let g = 1; g < G.kind.length; g++) opened.add(g);
  }
  relayout(); if (selected != null && shownAs(selected) !== selected) selected = shownAs(selected); fit();
}
function turn(to = !sideways) { choose([to]); fit(false); }
/** The direction, and in a small graph the length of lanes, that leaves things largest; one lane if that is nearly as good. */
function choose(turns = [false, true]) {
  let best = [0];
  for (const side of turns) for (const part of D.small ? [0, .8, .56] : [0]) {
    if (part && best[0] > .5) continue; // what can be read in one column stands in one
    sideways = side; longest = part * ((side ? W : H) - 40); relayout();
    const worth = Math.min((W - 32) / extent.w, (H - 32) / extent.h, 1) * (part ? .78 : 1) * (side ? .85 : 1);
    if (worth > best[0]) best = [worth, side, longest];
  }
  [, sideways, longest] = best; relayout();
}

function hit(px, py) {
  const x = (px - tx) / k, y = (py - ty) / k;
  if (k > .5) for (const s of stubs) if (s.area && x >= s.area[0] && x <= s.area[2] && y >= s.area[1] && y <= s.area[3]) return {stub: s};
  let best = null;
  for (const it of items) if (x >= it.x && x <= it.x + it.w && y >= it.y && y <= it.y + it.h && (!best || it.depth >= best.depth)) best = it;
  return best && {item: best, head: best.open && y < best.y + HEAD + 4};
}

/** The unit that an arrow key leads to: along the lines, or the next in the same direction on the screen. */
function neighbour(key) {
  const it = spot.get(selected); if (!it) return items.length ? (items.find(i => !i.open) || items[0]).u : null;
  const [dx, dy] = {ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0]}[key];
  const cx = it.x + it.w / 2, cy = it.y + it.h / 2; let best = null, least = Infinity;
  const linked = new Set();
  for (const a of arrowsOf(selected)) { linked.add(shownAs(A.src[a])); linked.add(shownAs(A.dst[a])); }
  for (const o of items) {
    if (o === it || o.open) continue;
    const x = o.x + o.w / 2 - cx, y = o.y + o.h / 2 - cy, on = x * dx + y * dy, off = Math.abs(x * dy) + Math.abs(y * dx);
    if (on < 4) continue;
    const cost = (on + 2.2 * off) * (linked.has(o.u) ? .35 : 1);
    if (cost < least) { least = cost; best = o.u; }
  }
  return best;
}
function arrowsOf(u) {
  if (u == null) return [];
  if (u >= 0) return into[u].concat(B.kind[u] === LEAF ? uses(u) : from[u]);
  if (G.count[-u] > 400) return [];
  const found = [], inside = new Set(), waiting = [-u];
  while (waiting.length) for (const v of L[waiting.pop()].units) v < 0 ? waiting.push(-v) : inside.add(v);
  for (const v of inside) { for (const a of into[v]) if (!inside.has(A.src[a])) found.push(a); for (const a of from[v]) if (!inside.has(A.dst[a])) found.push(a); }
  return found;
}
