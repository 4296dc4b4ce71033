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
