// The keyboard on a chart: arrows move the cursor, with Shift they mark a span, Enter shows it; + and − zoom, 0 shows
// the whole; Escape takes back the mark, then the cursor.

const KEYS_SAID = "Left and right arrows: values. Plus, minus, 0: zoom. Shift with arrows, then Enter: a span. Escape: leave.";

const markSpan = (chart, drawing, by) => {
  const panel = zoomable(drawing);
  if (!panel) return;
  const before = seen.cursor?.axis === panel.axis ? seen.cursor.x : null;
  step(chart, drawing, by);
  drawing.marked = { panel, from: drawing.marked?.from ?? before ?? seen.cursor.x };
  const x = xOf(panel, drawing.ticks);
  showChoice(drawing, panel.axis, x.at(drawing.marked.from), x.at(seen.cursor.x));
};
const unmark = (drawing) => {
  drawing.marked = undefined;
  showChoice(drawing);
};
const enter = (drawing) => {
  if (!drawing.marked || !seen.cursor) return;
  const { panel, from } = drawing.marked;
  const x = xOf(panel, drawing.ticks);
  const places = [x.at(from), x.at(seen.cursor.x)].sort((one, other) => one - other);
  unmark(drawing);
  if (places[1] > places[0]) zoomTo(drawing, panel, ...places);
};

const keysOf = (chart, drawing) => {
  const move = (by) => () => {
    unmark(drawing);
    step(chart, drawing, by);
  };
  const zoom = (act) => () => {
    unmark(drawing);
    act();
  };
  const [wider, closer] = [zoom(() => zoomBy(drawing, 0.5)), zoom(() => zoomBy(drawing, 2))];
  return {
    ArrowRight: move(1), ArrowLeft: move(-1), ArrowDown: move(1), ArrowUp: move(-1), End: move(Infinity), Home: move(-Infinity),
    PageDown: move(10), PageUp: move(-10),
    "Shift+ArrowRight": () => markSpan(chart, drawing, 1), "Shift+ArrowLeft": () => markSpan(chart, drawing, -1),
    "+": closer, "=": closer, "-": wider, "−": wider, 0: zoom(() => showWhole(drawing)), Enter: () => enter(drawing),
    Escape: () => (drawing.marked ? unmark(drawing) : setCursor(null)),
  };
};

const listenToKeys = (chart, drawing) => {
  const keys = keysOf(chart, drawing);
  drawing.svg.addEventListener("keydown", (event) => {
    if (event.target !== drawing.svg || event.ctrlKey || event.metaKey || event.altKey) return;
    const shift = event.shiftKey && event.key.startsWith("Arrow") ? "Shift+" : "";
    const act = keys[shift + event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
};
