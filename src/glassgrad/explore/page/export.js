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
