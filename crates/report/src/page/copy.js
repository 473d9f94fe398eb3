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
