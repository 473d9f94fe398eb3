// Draws the area of a plot again, for the span and the series that are chosen, by the rules of crates/chart/src/svg.
// The y axis fits what is shown, and begins where it always does. The drawing of the page itself is only hidden.

const DENSE = 40;
const MARKERS_ON_DENSE = 7;
const round = (length) => String(Math.round(length * 100) / 100);
const pathOf = (points) => points.map(({ x, y }, at) => `${at ? "L" : "M"}${round(x)},${round(y)}`).join("");

// The points of a series on the area, in pieces between its gaps, cut at the edges; beyond them lines go on.
const piecesOf = (series, place, { left, right }) => {
  const pieces = [[]];
  const between = (a, b, x) => {
    const share = (x - a.x) / (b.x - a.x);
    const mix = (key) => a[key] + (b[key] - a[key]) * share;
    return { x, y: mix("y"), low: mix("low"), high: mix("high"), edge: true };
  };
  const add = (point) => pieces.at(-1).push(point);
  let before = null;
  series.xs.forEach((x, at) => {
    const point = place(series, at);
    if (!Number.isFinite(point.x) || !Number.isFinite(point.y)) {
      if (pieces.at(-1).length > 0) pieces.push([]);
      before = null;
      return;
    }
    for (const edge of [left, right]) {
      if (before && edge > before.x && point.x > edge) add(between(before, point, edge));
    }
    if (point.x >= left - 0.01 && right + 0.01 >= point.x) add(point);
    before = point;
  });
  return pieces.filter((piece) => piece.length > 0);
};

const drawLine = (series, pieces, look, into) => {
  const points = pieces.flat().filter((point) => !point.edge);
  const within = (point) => Number.isFinite(point.low) && Number.isFinite(point.high);
  const dense = points.length >= DENSE;
  for (const piece of pieces) {
    const ends = piece.filter(within);
    if (dense && ends.length > 1) {
      const back = ends.slice().reverse().map(({ x, high }) => ({ x, y: high }));
      const data = pathOf([...ends.map(({ x, low }) => ({ x, y: low })), ...back]);
      into.append(node("path", { class: "b", d: `${data}z` }));
    }
  }
  for (const { x, low, high } of dense ? [] : points.filter(within)) {
    const d = `M${round(x)},${round(low)}V${round(high)}M${round(x - 4)},${round(low)}h8M${round(x - 4)},${round(high)}h8`;
    into.append(node("path", { class: "e", d }));
  }
  for (const piece of pieces) into.append(node("path", { class: "l", d: pathOf(piece), ...look.dashes }));
  const stride = dense ? Math.floor(points.length / MARKERS_ON_DENSE) : 1;
  const first = dense ? (Math.floor(stride / 2) + Math.floor(series.slot * stride / 3)) % stride : 0;
  points.filter((_, at) => look.marker && at >= first && (at - first) % stride === 0).forEach(({ x, y }) => {
    into.append(node("path", { class: "k", d: look.marker, transform: `translate(${round(x)},${round(y)})` }));
  });
};

const drawSteps = (series, place, { left, right, base }, look, into) => {
  let data = "";
  let end = NaN;
  for (let at = 0; series.xs.length - 1 > at; at += 1) {
    const [from, to] = [place(series, at), place(series, at + 1)];
    const [x, next] = [Math.max(from.x, left), Math.min(to.x, right)];
    if (!(next > x) || !Number.isFinite(from.y)) continue;
    if (x !== end) data += `${data && `V${round(base)}`}M${round(x)},${round(base)}`;
    data += `V${round(from.y)}H${round(next)}`;
    end = next;
  }
  if (data === "") return;
  data += `V${round(base)}`;
  into.append(node("path", { class: "b", d: data }), node("path", { class: "l", d: data, ...look.dashes }));
};

// Dashes and marker, as the page's own drawing has them.
const lookOf = (panel, at) => {
  const drawn = panel.drawn.querySelectorAll(":scope > .series")[at];
  const dashes = drawn?.querySelector("path.l[stroke-dasharray]")?.getAttribute("stroke-dasharray");
  return { dashes: dashes ? { "stroke-dasharray": dashes } : {}, marker: drawn?.querySelector("path.k")?.getAttribute("d") };
};

const label = (into, x, y, anchor, text, className = "n") => {
  const made = node("text", { class: className, x: round(x), y: round(y), "text-anchor": anchor }, text);
  into.append(made);
  return made;
};
const group = (into, className) => into.appendChild(node("g", { class: className }));
// About how wide a text of ticks is, as crates/chart/src/svg/writer.rs reckons.
const widthOf = (text) => [...text].reduce((sum, letter) => sum + (".,:' ".includes(letter) ? 3.74 : letter === "m" ? 10.12 : 6.82), 0);

const drawAxes = (panel, x, y, into) => {
  const { left, top, width, height, titleY, xTitleY } = panel.area;
  const [quiet, bottom] = [group(into, "m"), top + height];
  label(quiet, 0, titleY, "start", titleWith(panel.data.y, y.name));
  if (xTitleY) label(quiet, left + width / 2, xTitleY, "middle", titleWith(panel.data.x, x.name));
  const lines = group(into, "g");
  for (const tick of y.ticks) {
    const at = round(bottom - tick.at * height);
    lines.append(node("line", { x1: left, x2: left + width, y1: at, y2: at }));
    label(quiet, left - 7, Number(at) + 4, "end", tick.text).classList.add("ytick");
  }
  const ends = group(into, "x");
  ends.append(node("line", { x1: left, x2: left + width, y1: bottom, y2: bottom }));
  let free = -Infinity;
  for (const tick of x.ticks.filter(({ at }) => inside(at))) {
    const at = left + tick.at * width;
    ends.append(node("line", { x1: round(at), x2: round(at), y1: bottom, y2: bottom + 4 }));
    const half = widthOf(tick.text) / 2;
    if (free > at - half) continue;
    label(quiet, at, bottom + 16, "middle", tick.text).classList.add("xtick");
    free = at + half + 4;
  }
};

const drawMarks = (panel, x, y, into) => {
  const { left, top, width, height } = panel.area;
  const px = (value) => left + Math.min(Math.max(x.at(value), 0), 1) * width;
  const ends = [0, 0, 0, 0].fill(-Infinity);
  const quiet = group(into, "m");
  const marks = (panel.data.marks ?? []).map((mark) => ({ ...mark, middle: mark.at === undefined ? (px(mark.from) + px(mark.to)) / 2 : px(mark.at) }));
  for (const mark of marks.sort((one, other) => one.middle - other.middle)) {
    if (mark.level !== undefined) {
      const at = top + (1 - y.at(mark.level)) * height;
      quiet.append(node("line", { class: "d", x1: left, x2: left + width, y1: round(at), y2: round(at) }));
      label(quiet, left + width - 4, at - 4, "end", mark.text, "n o");
      continue;
    }
    const [from, to] = [mark.at ?? mark.from, mark.at ?? mark.to].map(x.at);
    if (0 > to || from > 1) continue;
    const line = { class: "d", x1: round(mark.middle), x2: round(mark.middle), y1: top, y2: top + height };
    const band = { class: "b", x: round(px(mark.from)), y: top, width: round(Math.max(px(mark.to) - px(mark.from), 2)), height };
    quiet.append(mark.at === undefined ? node("rect", band) : node("line", line));
    const half = widthOf(mark.text) / 2;
    const centre = Math.min(Math.max(mark.middle, left + half), Math.max(left + width - half, left + half));
    const row = ends.findIndex((end) => centre - half >= end);
    if (row === -1) continue;
    ends[row] = centre + half + 8;
    label(into, centre, top - 6 - row * 14, "middle", mark.text);
  }
};

// What the y axis must have room for: what is shown, with its neighbours outside of the span.
const heightsOf = (series, x) => {
  const shows = (at) => inside(x.at(series.xs[at]));
  const near = series.xs.map((_, at) => at).filter((at) => shows(at) || shows(at - 1) || shows(at + 1));
  return near.flatMap((at) => [series.ys[at], series.lows?.[at] ?? null, series.highs?.[at] ?? null]);
};

// The axis of y for these values; with fewer ticks, or as the page has it, where their texts would leave the page.
const ROOM_LEFT = 16;
const yFor = (panel, values) => {
  const levels = (panel.data.marks ?? []).flatMap((mark) => mark.level ?? []);
  const fits = (y) => y.ticks.every(({ text }) => panel.area.left + ROOM_LEFT >= widthOf(text) + 7);
  const fit = (count) => fitted(panel.data.y, [...values, ...levels], count);
  return [5, 3, 2].map(fit).find(fits) ?? yOfAll(panel);
};
const yOfAll = ({ data }) => {
  const all = data.series.flatMap((series) => [...series.ys, ...(series.lows ?? []), ...(series.highs ?? [])]);
  return fitted(data.y, [...all, ...(data.marks ?? []).flatMap((mark) => mark.level ?? [])], 5);
};

const redraw = (chart, drawing, panel) => {
  panel.again?.remove();
  const { left, top, width, height } = panel.area;
  const x = xOf(panel, drawing.ticks);
  const shown = shownSeries(chart, panel);
  const y = yFor(panel, shown.flatMap((series) => heightsOf(series, x)));
  const py = (value) => top + (1 - y.at(value)) * height;
  // An end that has no place on the axis lies at its beginning.
  const end = (value) => {
    const at = Number.isNaN(y.at(value)) ? y.base : y.at(value);
    return usable(value ?? null) ? top + (1 - Math.min(Math.max(at, 0), 1)) * height : NaN;
  };
  const place = (series, at) => ({
    x: left + x.at(series.xs[at]) * width, y: py(series.ys[at]), low: end(series.lows?.[at]), high: end(series.highs?.[at]),
  });
  const again = node("g", { class: "area" });
  drawAxes(panel, x, y, again);
  drawMarks(panel, x, y, again);
  const edges = { left, right: left + width, base: top + (1 - y.base) * height };
  panel.data.series.forEach((series, at) => {
    if (!shown.includes(series)) return;
    const into = group(again, `series s${series.slot % 6}`);
    if (series.steps) drawSteps(series, place, edges, lookOf(panel, at), into);
    else drawLine(series, piecesOf(series, place, edges), lookOf(panel, at), into);
  });
  panel.drawn.after(again);
  Object.assign(panel, { again, y });
};

// Shows a chart as it is to be seen now.
const show = (chart) => {
  for (const drawing of chart.drawings) {
    for (const panel of drawing.panels.filter(({ drawn }) => drawn)) {
      const changed = (isContinuous(panel) && seen.spans.has(panel.axis)) || shownSeries(chart, panel).length !== panel.data.series.length;
      panel.group.classList.toggle("again", changed);
      if (changed) {
        redraw(chart, drawing, panel);
      } else {
        panel.again?.remove();
        panel.again = panel.y = undefined;
      }
    }
  }
};
