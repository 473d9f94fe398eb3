// Makes the charts of a page answer. This is the only name that a page's script gives to others.
//
// `window.ablazeCharts.attach(root)` enlivens every chart below `root` (an element or the document): figures with
// `data-chart`, which have their figures as JSON beside their drawings. Calling it again changes nothing.
// Whoever replaces a part of a page calls it for the new part: what was seen there (the span of time, series that
// are switched off, the cursor, the focus) is remembered by the chart's name and shown again, before the next frame.
//
// A chart's name is its `data-chart`, with its place among those of the same name in the document.

const nameOf = (figure) => {
  const same = [...document.querySelectorAll("figure[data-chart]")].filter((other) => other.dataset.chart === figure.dataset.chart);
  return `${figure.dataset.chart} ${same.indexOf(figure)}`;
};

// Where the keyboard is: the chart, and the control in it. What is replaced loses it without a word.
let focused = null;
const controlsOf = (chart) => [...chart.drawings.flatMap(({ svg }) => [svg, ...svg.querySelectorAll(".key")]), chart.button];
const rememberFocus = (chart) => {
  chart.figure.addEventListener("focusin", (event) => {
    focused = { name: chart.name, at: controlsOf(chart).indexOf(event.target) };
  });
  chart.figure.addEventListener("focusout", () => queueMicrotask(() => {
    if (!chart.figure.isConnected || chart.figure.contains(document.activeElement)) return;
    focused = null;
    if (seen.cursor?.keys && seen.cursor.chart === chart.name) setCursor(null);
  }));
};

const enliven = (chart, drawing) => {
  const { svg } = drawing;
  // Its own note would stand over the figures.
  svg.querySelector(":scope > title")?.remove();
  svg.classList.add("alive");
  const attributes = { tabindex: "0", role: "application", "aria-roledescription": "chart", "aria-label": chart.data.title, "aria-description": KEYS_SAID };
  for (const [name, value] of Object.entries(attributes)) svg.setAttribute(name, value);
  svg.addEventListener("pointermove", (event) => follow(chart, drawing, pointOf(drawing, event)));
  svg.addEventListener("pointerdown", (event) => follow(chart, drawing, pointOf(drawing, event)));
  svg.addEventListener("pointerleave", (event) => {
    if (event.pointerType !== "touch" && !seen.cursor?.keys) setCursor(null);
  });
  dragging(drawing);
  listenToKeys(chart, drawing);
};

const attach = (root) => {
  const added = [];
  for (const figure of root.querySelectorAll("figure[data-chart]")) {
    const name = nameOf(figure);
    if (charts.get(name)?.figure === figure) continue;
    const chart = chartOf(name, figure);
    if (chart.drawings.length === 0 || chart.drawings.some(({ panels }) => panels.length === 0)) continue;
    charts.set(name, chart);
    chart.drawings.forEach((drawing) => enliven(chart, drawing));
    legendOf(chart);
    buttonOf(chart);
    rememberFocus(chart);
    added.push(chart);
  }
  for (const chart of added) {
    show(chart);
    showCursorIn(chart);
    const here = focused?.name === chart.name && document.activeElement === document.body;
    if (here) controlsOf(chart)[focused.at]?.focus({ preventScroll: true });
  }
};

window.ablazeCharts = { attach };
attach(document);
