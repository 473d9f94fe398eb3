// The cursor: one value of an axis, shown in all charts that have the axis. It stops at what was measured, never
// between; the figures beside it are written as the tables have them.

const FAR = 0.03;

// Where a cursor can stop on a panel: the places of the series that are shown, within the span. The bins of a
// histogram are known by their left edges.
const stopsOf = (chart, panel, x) => {
  if (panel.data.rows) return panel.data.rows.map((_, at) => firstRow(chart, panel) + at);
  const places = shownSeries(chart, panel).flatMap((series) => (series.steps ? series.xs.slice(0, -1) : series.xs));
  const covers = (value) => inside(x.at(value)) || (panel.data.series[0]?.steps && inside(x.at(rightEdge(panel, value))));
  return [...new Set(places)].filter((value) => value !== null && covers(value)).sort((one, other) => one - other);
};
// Rows of bars are counted through all panels of a chart.
const firstRow = (chart, panel) => chart.data.panels.slice(0, panel.index).reduce((sum, { rows }) => sum + (rows?.length ?? 0), 0);
const rightEdge = (panel, left) => {
  const { xs } = panel.data.series[0];
  return xs[xs.indexOf(left) + 1];
};

// The stop of a panel for the value at which the cursor is; undefined where it has none near.
const stopAt = (chart, panel, x, value) => {
  const stops = stopsOf(chart, panel, x);
  if (stops.includes(value)) return value;
  if (panel.data.rows || !isContinuous(panel)) return undefined;
  if (panel.data.series[0]?.steps) return stops.find((left) => value >= left && rightEdge(panel, left) > value);
  const far = (stop) => Math.abs(x.at(stop) - x.at(value));
  const nearest = stops.reduce((best, stop) => (far(best) > far(stop) ? stop : best), stops[0]);
  return far(nearest) > Math.max(FAR, 1 / stops.length) ? undefined : nearest;
};

// What is written at a stop: what it is, and a line for each series.
const readingOf = (chart, panel, stop) => {
  if (panel.data.rows) return readingOfRow(panel, panel.data.rows[stop - firstRow(chart, panel)]);
  const { x, y } = panel.data;
  const bin = panel.data.series[0]?.steps;
  const where = bin ? `${along(x, stop)} to ${along(x, rightEdge(panel, stop))}` : along(x, stop);
  const head = x.title === "" || x.unit === "quantile" ? where : `${x.title} ${where}`;
  const lines = shownSeries(chart, panel).flatMap((series) => pointsAt(series, stop).map((at) => {
    const [low, high] = [series.lows?.[at] ?? null, series.highs?.[at] ?? null];
    const interval = usable(low) && usable(high) ? ` [${textOf(y.unit, low)}–${textOf(y.unit, high)}]` : "";
    return { name: series.name, slot: series.slot, marker: markerOf(panel, series), text: textOf(y.unit, series.ys[at]) + interval };
  }));
  return { head, lines };
};
// A search asks for the same rate again: a series can have several points at one place.
const pointsAt = ({ xs }, stop) => xs.map((_, at) => at).filter((at) => xs[at] === stop);
const readingOfRow = ({ data }, row) => {
  const total = row.values.filter(usable).reduce((sum, value) => (sum ?? 0) + value, null);
  const lines = data.parts.length > 1 ? data.parts.map((name, at) => ({ name, part: at, text: textOf(data.unit, row.values[at] ?? null) })) : [];
  lines.push({ name: data.parts.length > 1 ? data.title : data.parts[0] ?? "", text: row.text ?? textOf(data.unit, total) });
  if (usable(row.low ?? null) && usable(row.high ?? null)) {
    lines.push({ name: "interval", text: `${textOf(data.unit, row.low)} to ${textOf(data.unit, row.high)}` });
  }
  return { head: row.name, lines };
};

// What tells a line from others without its colour; lines that are alone have nothing of the kind.
const markerOf = (panel, series) => lookOf(panel, panel.data.series.indexOf(series)).marker;

const swatch = ({ slot, part, marker }) => {
  const made = node("svg", { class: "ablaze-chart", viewBox: "0 0 12 12", width: 12, height: 12 });
  if (part !== undefined) made.append(node("rect", { class: `k p${part % 4}`, width: 12, height: 12 }));
  const shape = marker ?? "M-6,0h12v2h-12z";
  if (slot !== undefined) made.append(node("path", { class: `k s${slot % 6}`, d: shape, transform: "translate(6,6)" }));
  return made;
};
const readout = (readings) => {
  const box = element("div", "readout");
  let head = "";
  for (const reading of readings) {
    if (reading.head !== head) box.append(element("b", "", reading.head));
    head = reading.head;
    for (const line of reading.lines) {
      const row = element("div", "");
      row.append(swatch(line), element("span", "", line.name), element("span", "", line.text));
      box.append(row);
    }
  }
  return box;
};
const beside = (drawing, box, at, top) => {
  const frame = drawing.svg.parentElement;
  frame.append(box);
  const scale = drawing.svg.clientWidth / drawing.box.width;
  const x = (at - drawing.box.x) * scale;
  const right = x + 12 + box.offsetWidth > frame.clientWidth;
  box.style.left = `${Math.max(right ? x - 12 - box.offsetWidth : x + 12, 0)}px`;
  box.style.top = `${(top - drawing.box.y) * scale + 4}px`;
};

// The line, the row and the dots of the cursor on a panel.
const mark = (chart, panel, x, stop, into) => {
  const { left, top, width, height } = panel.area;
  if (panel.data.rows) {
    const y = top + (stop - firstRow(chart, panel)) * panel.row;
    into.append(node("rect", { class: "band", x: 0, y, width, height: panel.row, rx: 3 }));
    return width / 2;
  }
  const steps = panel.data.series[0]?.steps;
  const place = (value) => left + Math.min(Math.max(x.at(value), 0), 1) * width;
  const [from, to] = [place(stop), place(steps ? rightEdge(panel, stop) : stop)];
  into.append(steps ? node("rect", { class: "band", x: from, y: top, width: to - from, height })
    : node("line", { class: "line", x1: from, x2: from, y1: top, y2: top + height }));
  const y = panel.y ?? yOfAll(panel);
  for (const series of shownSeries(chart, panel)) {
    for (const at of series.steps ? [] : pointsAt(series, stop)) {
      const up = y.at(series.ys[at]);
      if (inside(up)) into.append(node("circle", { class: `dot s${series.slot % 6}`, cx: from, cy: top + (1 - up) * height, r: 4.5 }));
    }
  }
  return to;
};

const showCursorIn = (chart) => {
  chart.figure.querySelectorAll(".cursor, .readout").forEach((old) => old.remove());
  const drawing = shownDrawing(chart);
  const { cursor } = seen;
  const panels = drawing.panels.filter(({ axis }) => axis === cursor?.axis);
  const into = node("g", { class: "cursor" });
  const readings = [];
  let [at, top] = [0, drawing.panels[0].area.top];
  for (const panel of panels) {
    const x = panel.data.rows ? undefined : xOf(panel, drawing.ticks);
    const stop = stopAt(chart, panel, x, cursor.x);
    if (stop === undefined) continue;
    at = Math.max(at, mark(chart, panel, x, stop, into));
    readings.push(readingOf(chart, panel, stop));
    // Below the row, which has something to say itself.
    if (panel.data.rows) top = panel.area.top + (stop - firstRow(chart, panel) + 1) * panel.row;
  }
  if (readings.length === 0) return;
  drawing.svg.append(into);
  beside(drawing, readout(readings), at, top);
  if (cursor.keys && cursor.chart === chart.name) announce(readings);
};

// Said to those who hear the page, once, and only for the chart that has the keyboard.
const spoken = document.body.appendChild(element("div", "spoken"));
spoken.setAttribute("role", "status");
const announce = (readings) => {
  const words = readings.map(({ head, lines }) => `${head}: ${lines.map(({ name, text }) => `${name} ${text}`).join(", ")}`);
  const text = words.join("; ");
  if (spoken.textContent !== text) spoken.textContent = text;
};

const setCursor = (cursor) => {
  const { cursor: before } = seen;
  if (before && cursor && before.axis === cursor.axis && before.x === cursor.x && before.keys === cursor.keys && before.chart === cursor.chart) return;
  seen.cursor = cursor;
  for (const chart of charts.values()) {
    const has = ({ axis }) => axis === before?.axis || axis === cursor?.axis;
    if (chart.figure.isConnected && chart.drawings[0]?.panels.some(has)) showCursorIn(chart);
  }
};

// The stop under a pointer: of the panel that it is nearest to in height.
const panelUnder = (drawing, point) => {
  const off = ({ area }) => Math.max(area.top - point.y, point.y - area.top - area.height, 0);
  return drawing.panels.reduce((best, panel) => (off(best) > off(panel) ? panel : best), drawing.panels[0]);
};
const pointOf = (drawing, event) => {
  const rect = drawing.svg.getBoundingClientRect();
  const scale = drawing.box.width / rect.width;
  return { x: drawing.box.x + (event.clientX - rect.left) * scale, y: drawing.box.y + (event.clientY - rect.top) * scale };
};
const follow = (chart, drawing, point) => {
  const panel = panelUnder(drawing, point);
  const { left, top, width, height } = panel.area;
  const out = (before, at, length) => before > at + 8 || at > before + length + 8;
  if (out(left, point.x, width) || (panel.data.rows && out(top, point.y, height))) return setCursor(null);
  if (panel.data.rows) {
    const row = Math.min(Math.max(Math.floor((point.y - top) / panel.row), 0), panel.data.rows.length - 1);
    return setCursor({ axis: panel.axis, x: firstRow(chart, panel) + row, chart: chart.name, keys: false });
  }
  const x = xOf(panel, drawing.ticks);
  const value = x.value(Math.min(Math.max((point.x - left) / width, 0), 1));
  const near = nearestStop(chart, panel, x, value);
  if (near !== undefined) setCursor({ axis: panel.axis, x: near, chart: chart.name, keys: false });
};
const nearestStop = (chart, panel, x, value) => {
  const stops = stopsOf(chart, panel, x);
  const bin = stopAt(chart, panel, x, value);
  const far = (stop) => Math.abs(x.at(stop) - x.at(value));
  return bin ?? stops.reduce((best, stop) => (far(best) > far(stop) ? stop : best), stops[0]);
};

// Moves the cursor by so many stops, or to an end.
const step = (chart, drawing, by) => {
  const [first] = drawing.panels;
  const panels = drawing.panels.filter(({ axis }) => axis === first.axis);
  const all = panels.flatMap((panel) => stopsOf(chart, panel, panel.data.rows ? undefined : xOf(panel, drawing.ticks)));
  const stops = [...new Set(all)].sort((one, other) => one - other);
  if (stops.length === 0) return;
  const { cursor } = seen;
  const last = stops.length - 1;
  let at = cursor?.axis === first.axis ? stops.findLastIndex((stop) => cursor.x >= stop) : by > 0 ? -1 : last + 1;
  at = Math.min(Math.max(at + by, 0), last);
  setCursor({ axis: first.axis, x: stops[at], chart: chart.name, keys: true });
};
