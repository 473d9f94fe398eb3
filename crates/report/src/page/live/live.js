// The live page: each part is replaced by what the program sends, and the page by the finished one in the end.
{
  const token = new URLSearchParams(location.search).get("token") ?? "";
  const at = (path, more = {}) => path + "?" + new URLSearchParams({ token, ...more });
  const controls = document.querySelector(".controls");
  const said = controls.querySelector(".said");
  const pause = controls.querySelector('[data-does="pause"]');
  const say = (text) => { said.textContent = text; };

  // What the reader is at is left alone: what is pressed, and what has the focus, which only charts take over.
  const isHeld = (part) => {
    const focus = document.activeElement;
    const isTakenOver = window.ablazeCharts && focus?.closest("figure[data-chart]");
    return part.querySelector(":active") || (part.contains(focus) && !isTakenOver);
  };
  // What the reader opened stays open.
  const replace = (id, html) => {
    const part = document.getElementById("live-" + id);
    if (!part || isHeld(part)) return;
    const open = [...part.querySelectorAll("details")].map((details) => details.open);
    part.innerHTML = html;
    part.querySelectorAll("details").forEach((details, at) => { details.open = open[at] ?? false; });
    window.ablazeCharts?.attach(part);
  };
  const follow = () => {
    const events = new EventSource(at("events"));
    let lost = false;
    events.addEventListener("open", () => {
      if (lost) say("");
      lost = false;
      controls.hidden = false;
    });
    events.addEventListener("parts", (event) => {
      for (const [id, html] of Object.entries(JSON.parse(event.data))) replace(id, html);
      if (pause) pause.textContent = document.querySelector("[data-paused]") ? "Go on" : "Pause";
    });
    events.addEventListener("finished", () => {
      events.close();
      location.replace(at("finished"));
    });
    events.addEventListener("error", () => {
      lost = true;
      say("No connection to ablaze; trying again.");
      if (events.readyState === EventSource.CLOSED) setTimeout(follow, 2000);
    });
  };
  const order = async (button, what) => {
    button.disabled = true;
    try {
      const response = await fetch(at("control", what), { method: "POST" });
      say(await response.text());
    } catch {
      say("No connection to ablaze.");
    }
    button.disabled = false;
  };
  controls.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-does]");
    if (button) order(button, { do: button.dataset.does });
  });
  controls.querySelector("form")?.addEventListener("submit", (event) => {
    event.preventDefault();
    const form = event.target;
    order(form.querySelector("button"), { do: form.dataset.does, to: form.elements.to.value });
  });
  follow();
}
