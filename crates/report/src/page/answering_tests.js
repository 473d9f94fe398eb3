// Acts on the charts of a page as a person does, and says what is seen then. It stands in a test's function of
// `page`, `inner` and `say`.
const figures = [...page.querySelectorAll("figure[data-chart]")];
const shown = (figure) => [...figure.querySelectorAll("svg.ablaze-chart")].find((svg) => svg.getBoundingClientRect().width > 100);
const press = (target, key, more = {}) => target.dispatchEvent(new inner.KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
const click = (target) => target.dispatchEvent(new inner.MouseEvent("click", { bubbles: true, cancelable: true }));
// The lines under the cursor: the head, and each series with its figure.
const reading = (figure) => {
  const box = figure.querySelector(".readout");
  return box && [...box.children].map((line) => [...(line.tagName === "B" ? [line] : line.querySelectorAll("span"))].map((cell) => cell.textContent).join(" = "));
};
// What stands along the axes of the areas that are seen, in order.
const ticks = (figure) => [...shown(figure).querySelectorAll(".area")]
  .filter((area) => inner.getComputedStyle(area).display !== "none")
  .map((area) => [...area.querySelectorAll(".m text")].map((text) => `${text.getAttribute("text-anchor")} ${text.textContent}`).sort());
const saved = async (figure, kind) => {
  let blob;
  inner.URL.createObjectURL = (made) => { blob = made; return "data:,"; };
  inner.HTMLAnchorElement.prototype.click = () => {};
  figure.querySelector(".chart-more").click();
  [...page.querySelectorAll(".chart-menu button")].find((item) => item.textContent === `Save as ${kind}`).click();
  for (let waits = 0; !blob && 100 > waits; waits += 1) await new Promise((done) => { setTimeout(done, 20); });
  return blob;
};
