// A chart as the script knows it: its figures, and its drawings with the places of their panels. A chart is drawn
// twice, for a wide and a narrow window; one of the two is shown.

const NS = "http://www.w3.org/2000/svg";
const node = (name, attributes = {}, text = "") => {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== "") made.textContent = text;
  return made;
};
const element = (name, className, text = "") => {
  const made = document.createElement(name);
  made.className = className;
  made.textContent = text;
  return made;
};

// The charts of the page by their names.
const charts = new Map();

// What is seen of the charts by those who have changed it: it outlives the elements it is shown on.
// Spans by axis; hidden series (`panel name`) by chart; the one cursor: its axis, its value, its chart.
const seen = { spans: new Map(), hidden: new Map(), cursor: null };
const hiddenOf = (chart) => {
  if (!seen.hidden.has(chart.name)) seen.hidden.set(chart.name, new Set());
  return seen.hidden.get(chart.name);
};
const isHidden = (chart, panel, series) => hiddenOf(chart).has(`${panel.index} ${series.name}`);
const shownSeries = (chart, panel) => panel.data.series.filter((series) => !isHidden(chart, panel, series));

// Charts whose axes have the same title and unit share their cursor and their span; bars have a cursor of their own.
const axisOf = (chart, data) => (data.rows ? `rows of ${chart.name}` : `${data.x.title}, ${data.x.unit}, ${data.x.scale === "categories"}`);
const isContinuous = (panel) => Boolean(panel.data.x) && panel.data.x.scale !== "categories";

const numbersOf = (list) => (list ?? "").split(" ").map(Number);
const panelOf = (chart, data, index, group) => {
  const panel = { index, data, group, axis: axisOf(chart, data) };
  if (data.rows) {
    const [top, row, width] = numbersOf(group.querySelector(".rows").dataset.rows);
    return { ...panel, area: { left: 0, top, width, height: row * data.rows.length }, row };
  }
  for (const series of data.series) series.xs ??= data.xs;
  const drawn = group.querySelector(".area");
  const [left, top, width, height, titleY, xTitleY] = numbersOf(drawn.dataset.area);
  return { ...panel, drawn, area: { left, top, width, height, titleY, xTitleY } };
};

const drawingOf = (chart, svg) => {
  const groups = [...svg.querySelectorAll(":scope > .plot, :scope > .bars")];
  const drawing = { svg, box: svg.viewBox.baseVal, panels: groups.map((group, at) => panelOf(chart, chart.data.panels[at], at, group)) };
  drawing.ticks = drawing.box.width > 600 ? 10 : 5;
  return drawing;
};
const chartOf = (name, figure) => {
  const data = JSON.parse(figure.querySelector(".ablaze-chart-data").textContent);
  const chart = { name, figure, data };
  chart.drawings = [...figure.querySelectorAll("svg.ablaze-chart")].map((svg) => drawingOf(chart, svg));
  return chart;
};
const shownDrawing = (chart) => chart.drawings.find(({ svg }) => svg.getBoundingClientRect().width > 0) ?? chart.drawings[0];

// The axis of x as a panel is drawn with it now.
const xOf = (panel, ticks) => {
  const span = isContinuous(panel) ? seen.spans.get(panel.axis) : undefined;
  return fitted(panel.data.x, panel.data.series.flatMap((series) => series.xs), ticks, span);
};
const inside = (at) => at >= -1e-6 && 1 + 1e-6 >= at;
