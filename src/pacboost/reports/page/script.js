// What moves: the theme, the reading line of curves, the slider of margins. The page reads well without it.
"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const data = (figure) => JSON.parse(figure.querySelector("script").textContent);

  const root = document.documentElement;
  const toggle = document.querySelector(".theme");
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const now = () => root.dataset.theme || (dark.matches ? "dark" : "light");
  const name = () => { toggle.firstElementChild.textContent = now() === "dark" ? "Light" : "Dark"; };
  toggle.hidden = false;
  toggle.addEventListener("click", () => { root.dataset.theme = now() === "dark" ? "light" : "dark"; name(); });
  dark.addEventListener("change", name);
  name();

  for (const figure of all("figure.curves")) {
    const { x, unit, names, values } = data(figure);
    const reading = figure.querySelector(".reading");
    for (const svg of all("svg[data-places]", figure)) {
      const places = JSON.parse(svg.dataset.places);
      const reader = svg.querySelector(".reader");
      svg.addEventListener("pointermove", (event) => {
        const box = svg.getBoundingClientRect();
        const at = (event.clientX - box.left) * svg.viewBox.baseVal.width / box.width;
        let best = 0;
        places.forEach((place, k) => { if (Math.abs(place - at) < Math.abs(places[best] - at)) best = k; });
        reader.setAttribute("x1", places[best]);
        reader.setAttribute("x2", places[best]);
        reader.style.visibility = "visible";
        const said = names.map((own, k) => `${own} ${values[k][best]}`).join(" · ");
        reading.textContent = `${unit} ${x[best].toLocaleString("en")}: ${said}`;
      });
      svg.addEventListener("pointerleave", () => { reader.style.visibility = "hidden"; reading.textContent = ""; });
    }
  }

  for (const figure of all("figure.margins")) {
    const panel = figure.querySelector(".slider");
    if (!panel) continue;
    const { unit, stages } = data(figure);
    const input = panel.querySelector("input");
    const play = panel.querySelector(".play");
    const drawings = all("svg", figure).map((svg) => ({
      bars: all("rect.bar", svg), top: +svg.dataset.top, base: +svg.dataset.base, high: +svg.dataset.high,
    }));
    let timer = 0;
    const show = () => {
      const own = stages[+input.value];
      for (const { bars, top, base, high } of drawings) {
        bars.forEach((bar, k) => {
          const length = Math.min(1, own.bars[k] / top) * high;
          bar.setAttribute("y", base - length);
          bar.setAttribute("height", length);
        });
      }
      panel.querySelector(".stage").textContent = own.stage.toLocaleString("en");
      panel.querySelector(".wrong-share").textContent = own.wrong;
      panel.querySelector(".middle").textContent = own.middle;
      panel.querySelector(".tenth").textContent = own.tenth;
      input.setAttribute("aria-valuetext", `${own.stage}`);
    };
    const stop = () => { window.clearInterval(timer); timer = 0; play.textContent = "Play"; };
    input.addEventListener("input", () => { stop(); show(); });
    play.addEventListener("click", () => {
      if (timer) { stop(); return; }
      if (+input.value === stages.length - 1) input.value = 0;
      show();
      play.textContent = "Pause";
      timer = window.setInterval(() => {
        input.value = +input.value + 1;
        show();
        if (+input.value === stages.length - 1) stop();
      }, 120);
    });
    panel.dataset.unit = unit;
    panel.hidden = false;
  }

  const links = new Map(all("nav a").map((link) => [link.hash.slice(1), link]));
  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (!entry.isIntersecting) continue;
      links.forEach((link) => link.removeAttribute("aria-current"));
      links.get(entry.target.id)?.setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-30% 0px -65% 0px" });
  all("main > section").forEach((section) => watcher.observe(section));
})();
