// The panels below the player, one at a time, as tabs.

import { h, find } from "lab/dom.js";

/** Make the tabs; each panel is {id, title, element, show(): drawn when it becomes visible or the run changes}. */
export function tabsView(lab, panels) {
  const shown = () => panels.find((panel) => panel.id === lab.state.tab) ?? panels[0];
  const buttons = panels.map((panel) => h("button", { role: "tab", id: `tab-${panel.id}`, "aria-controls": `panel-${panel.id}`,
    onclick: () => lab.setTab(panel.id), onkeydown: (event) => {
      const way = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!way) return;
      event.preventDefault();
      const there = panels.filter((one) => !one.hidden?.());
      const next = there[(there.indexOf(panel) + way + there.length) % there.length];
      lab.setTab(next.id);
      find(`#tab-${next.id}`).focus();
    } }, panel.title));
  const places = panels.map((panel) => h("div", { class: "tab", role: "tabpanel", id: `panel-${panel.id}`, "aria-labelledby": `tab-${panel.id}`, tabindex: 0 }, panel.element));
  find("#more").replaceChildren(h("div", { class: "tabs", role: "tablist", "aria-label": "More about this run" }, buttons), ...places);
  function draw() {
    const now = shown();
    panels.forEach((panel, k) => {
      const on = panel === now;
      buttons[k].setAttribute("aria-selected", String(on));
      buttons[k].tabIndex = on ? 0 : -1;
      buttons[k].hidden = Boolean(panel.hidden?.()) && !on;
      places[k].hidden = !on;
    });
    now.show?.();
  }
  lab.on("tab lanes", draw);
  lab.on("round", () => shown().round?.());
  lab.on("rounds data", (run) => shown().rounds?.(run));
  draw();
}
