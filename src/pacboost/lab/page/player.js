// Play, pause, step, step back and scrub.

import { h, s, find, whole } from "lab/dom.js";

const icon = (path) => s("svg", { viewBox: "0 0 16 16", "aria-hidden": true }, s("path", { d: path }));
const PLAY = "M4 2.5v11l9-5.5z", PAUSE = "M4 2.5h3v11H4zM9 2.5h3v11H9z";

export function playerView(lab) {
  const button = (label, path, task, key) => h("button", { class: "icon", "aria-label": label, title: `${label} (${key})`, onclick: task }, icon(path));
  const play = button("Play", PLAY, () => (lab.playing ? lab.pause() : lab.play()), "space");
  play.classList.add("first", "play");
  const slide = h("input", { type: "range", min: 0, step: 1, "aria-label": "Round", class: "scrub", oninput: () => { lab.pause(); lab.goto(+slide.value); } });
  const count = h("output", { class: "count" });
  const speed = h("select", { "aria-label": "Rounds per second", class: "speed", onchange: () => { lab.speed = +speed.value; } },
    [[1, "1 / s"], [2, "2 / s"], [5, "5 / s"], [20, "20 / s"]].map(([value, text]) => h("option", { value, selected: value === lab.speed }, text)));
  const more = h("button", { class: "more-rounds", onclick: () => lab.more(lab.state.rounds < 40 ? 30 : lab.state.rounds < 200 ? 100 : 300) }, "More", h("span", {}, " rounds"));
  find("#player").replaceChildren(
    h("div", { class: "buttons" },
      button("To the start", "M3 2.5h2v11H3zM13 2.5v11L6 8z", () => { lab.pause(); lab.goto(0, { quiet: false }); }, "Home"),
      button("Step back", "M11 2.5v11L3 8z", () => { lab.pause(); lab.step(-1, { quiet: false }); }, "left arrow"),
      play,
      button("Step", "M3 2.5v11L11 8zM11.5 2.5h2v11h-2z", () => { lab.pause(); lab.step(1, { quiet: false }); }, "right arrow")),
    slide, count, speed, more);
  function draw() {
    slide.max = lab.last; slide.value = lab.state.round;
    count.replaceChildren("round ", h("b", {}, whole(lab.state.round)), ` of ${whole(lab.last)}`);
    slide.setAttribute("aria-valuetext", `round ${lab.state.round} of ${lab.last}`);
    more.disabled = lab.runs().every((run) => run.ended || run.error) || lab.state.rounds >= lab.catalog.limits.rounds;
  }
  lab.on("round rounds lanes data", draw);
  lab.on("playing", () => {
    play.replaceChildren(icon(lab.playing ? PAUSE : PLAY));
    play.setAttribute("aria-label", lab.playing ? "Pause" : "Play");
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || find("#dialog").open) return;
    if (event.target.closest("input, select, textarea, [role=tab], canvas, summary")) return;
    if (event.key === " " && event.target.closest("button, a")) return;
    const task = {
      " ": () => (lab.playing ? lab.pause() : lab.play()),
      ArrowRight: () => { lab.pause(); lab.step(1, { quiet: false }); },
      ArrowLeft: () => { lab.pause(); lab.step(-1, { quiet: false }); },
      Home: () => { lab.pause(); lab.goto(0, { quiet: false }); },
      End: () => { lab.pause(); lab.goto(lab.last, { quiet: false }); },
    }[event.key];
    if (task) { event.preventDefault(); task(); }
  });
}
