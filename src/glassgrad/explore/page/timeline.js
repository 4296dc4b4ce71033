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
