// A chart as a file: its figures as CSV, all of them with all digits; its drawing as it is seen, as SVG and as PNG.

const quoted = (cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
const rowsAsText = (rows) => rows.map((row) => row.map((cell) => quoted(String(cell ?? ""))).join(",")).join("\r\n");
const named = ({ title, unit }) => (["ns", "bytes"].includes(unit) ? `${title || "value"} (${unit})` : title || "value");

// The columns of a plot; panels that stand over the same places share the first.
const columnsOf = (panel, several) => panel.series.flatMap((series) => {
  const name = several || panel.series.length > 1 ? `${named(panel.y)}: ${series.name}` : named(panel.y);
  const column = (title, values) => {
    const at = new Map(series.xs.map((x) => [x, []]));
    values.forEach((value, index) => at.get(series.xs[index]).push(value));
    return { title, at };
  };
  const ends = [["low", series.lows], ["high", series.highs]].filter(([, values]) => values);
  return [column(name, series.ys), ...ends.map(([end, values]) => column(`${name}, ${end}`, values))];
});
const tableOfPlots = (panels) => {
  const [{ x }] = panels;
  const columns = panels.flatMap((panel) => columnsOf(panel, panels.length > 1));
  const places = [...new Set(columns.flatMap(({ at }) => [...at.keys()]))].sort((one, other) => one - other);
  const head = [named(x), ...columns.map(({ title }) => title)];
  // Where a series has several points at one place, each has its row.
  const rowsAt = (place) => Array.from({ length: Math.max(...columns.map(({ at }) => at.get(place)?.length ?? 0)) }, (_, nth) => (
    [x.names?.[place - 1] ?? place, ...columns.map(({ at }) => at.get(place)?.[nth])]));
  return [head, ...places.flatMap(rowsAt)];
};
const tableOfBars = ({ title, unit, parts, rows }) => {
  const names = parts.length > 1 ? parts.map((part) => named({ title: part, unit })) : [named({ title, unit })];
  const ends = rows.some(({ low }) => low !== undefined) ? ["low", "high"] : [];
  return [["", ...names, ...ends], ...rows.map((row) => [row.name, ...names.map((_, at) => row.values[at]), ...ends.map((end) => row[end])])];
};
const csvOf = ({ data }) => {
  const plots = data.panels.filter(({ rows }) => !rows);
  const axes = [...new Set(plots.map(({ x }) => JSON.stringify(x)))];
  const tables = axes.map((axis) => tableOfPlots(plots.filter(({ x }) => JSON.stringify(x) === axis)));
  tables.push(...data.panels.filter(({ rows }) => rows).map(tableOfBars));
  return `${tables.map(rowsAsText).join("\r\n\r\n")}\r\n`;
};

// The drawing with its title, ground and style; what a pointer left on it stays on the page.
const MARGIN = 20;
const HEAD = 30;
const svgOf = (chart, dark) => {
  const drawing = shownDrawing(chart);
  const svg = drawing.svg.cloneNode(true);
  svg.querySelectorAll(".cursor, .choice, .h, .again > .area[data-area], .again > .leader").forEach((part) => part.remove());
  for (const entry of svg.querySelectorAll(".key[aria-pressed=false]")) entry.setAttribute("opacity", "0.4");
  for (const name of ["tabindex", "aria-label", "aria-roledescription", "aria-description"]) svg.removeAttribute(name);
  svg.setAttribute("role", "img");
  const [width, height] = [drawing.box.width + 2 * MARGIN, drawing.box.height + 2 * MARGIN + HEAD];
  for (const [name, value] of Object.entries({ width, height, viewBox: `${-MARGIN} ${-MARGIN - HEAD} ${width} ${height}` })) svg.setAttribute(name, value);
  const style = node("style", {}, styleOf(dark));
  const ground = node("rect", { class: "ground", x: -MARGIN, y: -MARGIN - HEAD, width, height });
  svg.prepend(node("title", {}, chart.data.title), style, ground, node("text", { class: "t", x: 0, y: -HEAD + 14 }, chart.data.title));
  return { text: new XMLSerializer().serializeToString(svg), width, height };
};
// For a file that follows its reader's screen, or for a picture in the colours of now.
const styleOf = (dark) => {
  const css = document.querySelector(".ablaze-chart-style").textContent.trim();
  const [light, rest] = css.split("@media screen and (prefers-color-scheme:dark){");
  if (dark === undefined) return css;
  return dark ? light + rest.slice(0, -1) : light;
};

const pngOf = async (chart) => {
  const { text, width, height } = svgOf(chart, matchMedia("(prefers-color-scheme: dark)").matches);
  const picture = new Image();
  picture.src = `data:image/svg+xml,${encodeURIComponent(text)}`;
  await picture.decode();
  const canvas = document.createElement("canvas");
  const sharp = 2;
  Object.assign(canvas, { width: width * sharp, height: height * sharp });
  canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => { canvas.toBlob(done, "image/png"); });
};

const download = (chart, blob, extension) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = `${chart.figure.dataset.chart || "chart"}.${extension}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
};
const saving = {
  PNG: async (chart) => download(chart, await pngOf(chart), "png"),
  SVG: (chart) => download(chart, new Blob([svgOf(chart).text], { type: "image/svg+xml" }), "svg"),
  CSV: (chart) => download(chart, new Blob([csvOf(chart)], { type: "text/csv" }), "csv"),
};
const copying = {
  picture: (chart) => navigator.clipboard.write([new ClipboardItem({ "image/png": pngOf(chart) })]),
  CSV: (chart) => navigator.clipboard.writeText(csvOf(chart)),
};
