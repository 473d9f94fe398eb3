// Without this the page is whole; with it, commands can be copied at a click.
for (const button of document.querySelectorAll(".command button")) {
  if (!navigator.clipboard) continue;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const text = button.parentElement.querySelector("code").textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Not permitted";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });
}
// A column of figures sorts its table at a click on its heading, the largest first.
const scale = { ns: 1, "µs": 1e3, ms: 1e6, s: 1e9 };
const figure = (cell) => {
  const [, digits, unit] = cell.textContent.replace(/,/g, "").replace("−", "-").match(/^([-+]?[\d.]+)\s*(\S*)/) ?? [];
  return digits === undefined ? -Infinity : Math.abs(Number(digits)) * (scale[unit] ?? 1);
};
for (const table of document.querySelectorAll("table.sortable")) {
  const headings = [...table.querySelectorAll("thead th")];
  const mark = (column) => headings.forEach((heading, at) => {
    if (at === column) heading.setAttribute("aria-sort", "descending");
    else heading.removeAttribute("aria-sort");
  });
  headings.forEach((heading, column) => {
    if (column === 0) return;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = heading.textContent;
    button.title = "Sort by this column";
    heading.replaceChildren(button);
    button.addEventListener("click", () => {
      const body = table.tBodies[0];
      const rows = [...body.rows];
      rows.sort((one, other) => figure(other.cells[column]) - figure(one.cells[column]));
      body.append(...rows);
      mark(column);
    });
  });
  mark(Number(table.dataset.sorted));
}
