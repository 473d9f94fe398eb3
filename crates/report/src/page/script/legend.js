// The entries of a legend switch their series off and on.

const switchSeries = (chart, panel, series) => {
  const hidden = hiddenOf(chart);
  const key = `${panel.index} ${series.name}`;
  if (!hidden.delete(key)) hidden.add(key);
  show(chart);
  showKeys(chart);
  showCursorIn(chart);
};
const entriesOf = (panel) => [...panel.group.querySelectorAll(":scope > .key")];
const showKeys = (chart) => {
  for (const panel of chart.drawings.flatMap(({ panels }) => panels)) {
    for (const entry of entriesOf(panel)) {
      const on = !isHidden(chart, panel, panel.data.series[entry.dataset.series]);
      entry.setAttribute("aria-pressed", on);
    }
  }
};
const legendOf = (chart) => {
  for (const panel of chart.drawings.flatMap(({ panels }) => panels)) {
    for (const entry of entriesOf(panel)) {
      const series = panel.data.series[entry.dataset.series];
      entry.setAttribute("role", "button");
      entry.setAttribute("tabindex", "0");
      entry.setAttribute("aria-label", series.name);
      // Something to press between the letters, which a chart that is not on the screen cannot measure.
      const text = entry.querySelector("text");
      const [x, y] = [Number(text.getAttribute("x")), Number(text.getAttribute("y"))];
      const before = x > 30 && panel.area.left + panel.area.width > x ? 30 : 14;
      entry.prepend(node("rect", { class: "h", x: x - before, y: y - 13, width: before + widthOf(text.textContent) + 4, height: 18 }));
      const press = (event) => {
        if (event.key && event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        switchSeries(chart, panel, series);
      };
      entry.addEventListener("click", press);
      entry.addEventListener("keydown", press);
    }
  }
  showKeys(chart);
};
