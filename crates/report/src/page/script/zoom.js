// A span of an axis: dragged over, or marked and entered by the keyboard; every chart with the axis follows.

const LEAST_SHARE = 1 / 500;
const LEAST_DRAG = 5;

const showAxis = (axis) => {
  for (const chart of charts.values()) {
    if (!chart.figure.isConnected || !chart.drawings[0]?.panels.some((panel) => panel.axis === axis)) continue;
    show(chart);
    showCursorIn(chart);
  }
};

// The whole axis, as it is without a span.
const wholeOf = (panel, ticks) => fitted(panel.data.x, panel.data.series.flatMap((series) => series.xs), ticks);

// Shows the part of an axis between two places of its present extent; the whole of it when the part is no smaller.
const zoomTo = (drawing, panel, from, to) => {
  const whole = wholeOf(panel, drawing.ticks);
  const x = xOf(panel, drawing.ticks);
  const places = [from, to].map((place) => Math.min(Math.max(whole.at(x.value(place)), 0), 1));
  const missing = LEAST_SHARE - (places[1] - places[0]);
  if (missing > 0) {
    const middle = Math.min(Math.max((places[0] + places[1]) / 2, LEAST_SHARE / 2), 1 - LEAST_SHARE / 2);
    places.splice(0, 2, middle - LEAST_SHARE / 2, middle + LEAST_SHARE / 2);
  }
  // Where the axis of percentiles ends, all that is above does.
  const ends = places.map((place) => whole.value(place));
  if (places[0] > 1e-6 || 1 - 1e-6 > places[1]) seen.spans.set(panel.axis, ends);
  else seen.spans.delete(panel.axis);
  showAxis(panel.axis);
};
// The panel whose span the keyboard changes; undefined for bars and for values side by side.
const zoomable = (drawing) => drawing.panels.find(isContinuous);
const zoomBy = (drawing, factor) => {
  const panel = zoomable(drawing);
  if (!panel) return;
  const at = seen.cursor?.axis === panel.axis ? xOf(panel, drawing.ticks).at(seen.cursor.x) : 0.5;
  const centre = inside(at) ? at : 0.5;
  zoomTo(drawing, panel, centre - centre / factor, centre + (1 - centre) / factor);
};
const showWhole = (drawing) => {
  const axes = new Set(drawing.panels.filter(isContinuous).map(({ axis }) => axis));
  for (const axis of axes) {
    seen.spans.delete(axis);
    showAxis(axis);
  }
};

// The band over what is being chosen.
const showChoice = (drawing, axis, from, to) => {
  drawing.svg.querySelectorAll(".choice").forEach((old) => old.remove());
  if (from === undefined) return;
  for (const { area } of drawing.panels.filter((panel) => panel.axis === axis)) {
    const place = { x: area.left + Math.min(from, to) * area.width, y: area.top };
    drawing.svg.append(node("rect", { class: "choice", ...place, width: Math.abs(to - from) * area.width, height: area.height }));
  }
};

const dragging = (drawing) => {
  let drag = null;
  const placeOf = (event) => (pointOf(drawing, event).x - drag.panel.area.left) / drag.panel.area.width;
  const clamped = (event) => Math.min(Math.max(placeOf(event), 0), 1);
  const end = () => {
    drag = null;
    showChoice(drawing);
  };
  drawing.svg.addEventListener("pointerdown", (event) => {
    const point = pointOf(drawing, event);
    const panel = panelUnder(drawing, point);
    const { left, top, width, height } = panel.area;
    const within = point.x >= left && left + width >= point.x && point.y >= top && top + height >= point.y;
    if (event.button !== 0 || event.pointerType === "touch" || !within || !isContinuous(panel)) return;
    drag = { panel, x: event.clientX };
    drag.from = clamped(event);
    if (event.isTrusted) drawing.svg.setPointerCapture(event.pointerId);
  });
  drawing.svg.addEventListener("pointermove", (event) => {
    if (drag && Math.abs(event.clientX - drag.x) > LEAST_DRAG) showChoice(drawing, drag.panel.axis, drag.from, clamped(event));
  });
  drawing.svg.addEventListener("pointerup", (event) => {
    if (!drag) return;
    const { panel, from, x } = drag;
    const to = clamped(event);
    end();
    if (Math.abs(event.clientX - x) > LEAST_DRAG) zoomTo(drawing, panel, Math.min(from, to), Math.max(from, to));
  });
  drawing.svg.addEventListener("pointercancel", end);
  drawing.svg.addEventListener("dblclick", (event) => {
    if (!event.target.closest(".key")) showWhole(drawing);
  });
};
