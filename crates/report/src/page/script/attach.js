// What makes the charts of a page answer: the only name that a page's script gives to others.
//
// `window.ablazeCharts.attach(root)` enlivens every chart below `root` (an element or the document): figures with
// `data-chart`, which have their figures as JSON beside their drawings. Calling it again changes nothing.
// Whoever replaces a part of a page calls it for the new part: what was seen there (the span of time, series that
// are switched off, the cursor, the focus) is remembered by the chart's name and shown again, before the next frame.
//
// A chart's name is its `data-chart`, with its place among those of the same name in the document.
const charts = new Map();

const nameOf = (figure) => {
  const same = [...document.querySelectorAll("figure[data-chart]")].filter((other) => other.dataset.chart === figure.dataset.chart);
  return `${figure.dataset.chart} ${same.indexOf(figure)}`;
};

const attach = (root) => {
  for (const figure of root.querySelectorAll("figure[data-chart]")) {
    const name = nameOf(figure);
    if (charts.get(name)?.figure === figure) continue;
    charts.set(name, { name, figure });
  }
};

window.ablazeCharts = { attach };
attach(document);
