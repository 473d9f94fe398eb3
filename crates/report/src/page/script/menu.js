// The menu of a chart: zoom, copy, save. There is one, which opens at the button of the chart that asked for it.

const menu = document.body.appendChild(element("div", "chart-menu"));
menu.setAttribute("role", "menu");
menu.hidden = true;
let menuOf = null;

const closeMenu = (focus) => {
  if (menu.hidden) return;
  menu.hidden = true;
  const button = charts.get(menuOf)?.button;
  button?.setAttribute("aria-expanded", "false");
  if (focus) button?.focus();
};
const itemsOf = (chart) => {
  const drawing = shownDrawing(chart);
  const zooms = zoomable(drawing) ? [
    ["Zoom in", () => zoomBy(drawing, 2)], ["Zoom out", () => zoomBy(drawing, 0.5)], ["Show the whole axis", () => showWhole(drawing)],
  ] : [];
  const copies = navigator.clipboard ? [
    ["Copy the picture", () => copying.picture(chart)], ["Copy the figures as CSV", () => copying.CSV(chart)],
  ] : [];
  const saves = Object.entries(saving).map(([kind, save]) => [`Save as ${kind}`, () => save(chart)]);
  return [...zooms, ...copies, ...saves];
};
const openMenu = (chart) => {
  menuOf = chart.name;
  const items = itemsOf(chart).map(([name, act]) => {
    const item = element("button", "", name);
    item.type = "button";
    item.setAttribute("role", "menuitem");
    item.tabIndex = -1;
    item.addEventListener("click", async () => {
      try {
        await act();
        closeMenu(true);
      } catch {
        item.textContent = `${name}: not permitted by the browser`;
      }
    });
    return item;
  });
  menu.replaceChildren(...items);
  menu.hidden = false;
  const { right, bottom } = chart.button.getBoundingClientRect();
  menu.style.left = `${Math.max(right + scrollX - menu.offsetWidth, 8)}px`;
  menu.style.top = `${bottom + scrollY + 4}px`;
  chart.button.setAttribute("aria-expanded", "true");
  items[0].focus();
};
menu.addEventListener("keydown", (event) => {
  const items = [...menu.children];
  const at = items.indexOf(document.activeElement);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key];
  if (to !== undefined) items.at(to % items.length).focus();
  if (event.key === "Escape" || event.key === "Tab") closeMenu(true);
  if (to !== undefined || event.key === "Escape") event.preventDefault();
});
document.addEventListener("pointerdown", (event) => {
  if (!menu.contains(event.target) && !event.target.closest?.(".chart-more")) closeMenu(false);
  if (!event.target.closest?.("figure[data-chart]")) setCursor(null);
});

const buttonOf = (chart) => {
  const button = element("button", "chart-more", "⋯");
  button.type = "button";
  button.setAttribute("aria-haspopup", "menu");
  button.setAttribute("aria-expanded", String(!menu.hidden && menuOf === chart.name));
  button.setAttribute("aria-label", `Zoom, copy or save: ${chart.data.title}`);
  button.addEventListener("click", () => (menu.hidden || menuOf !== chart.name ? openMenu(chart) : closeMenu(true)));
  chart.button = chart.figure.appendChild(button);
};
