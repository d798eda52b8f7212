// Assembles the page.

import { h, find, notice } from "lab/dom.js";
import { ask, recording } from "lab/api.js";
import { unpack, copy } from "lab/codec.js";
import { Lab, START, runSpec } from "lab/lab.js";
import { laneView } from "lab/lane.js";
import { ownView } from "lab/own.js";
import { playerView } from "lab/player.js";
import { railView } from "lab/rail.js";
import { tabsView } from "lab/tabs.js";
import { certificatesPanel } from "lab/certificates.js";
import { weightsPanel } from "lab/weights.js";
import { comparePanel } from "lab/compare.js";
import { filteringPanel } from "lab/filtering.js";
import { plannerPanel } from "lab/planner.js";
import { instrumentsPanel } from "lab/instruments.js";
import { guide } from "lab/guide.js";
import { openDialog, takeView } from "lab/take.js";

const root = document.documentElement, dark = matchMedia("(prefers-color-scheme: dark)");
const theme = () => root.dataset.theme || (dark.matches ? "dark" : "light");

/** The first state: of a recording, a link, the command line, or the ten points. */
function firstState(catalog) {
  if (recording) {
    const rounds = Math.max(1, ...recording.runs.map(({ answer }) => answer.done)), many = recording.runs.length > 1;
    return { ...copy(START), lanes: recording.runs.map(({ run }) => ({ run, at: 0 })), rounds, round: rounds, tab: many ? "compare" : "certificates", ...recording.state };
  }
  try {
    const linked = unpack(location.hash);
    if (linked) return linked;
  } catch { notice("This link is broken: a part of it is missing or was changed. The lab starts with the ten points of the lecture instead.", "error"); }
  if (catalog.boot?.data) return { ...copy(START), lanes: [{ run: runSpec({ data: catalog.boot.data }), at: 0 }], rounds: 40 };
  return copy(START);
}

function barView(lab, story, take) {
  const name = h("span", {}, "");
  const show = () => { name.textContent = theme() === "dark" ? "Light" : "Dark"; lab.emit("theme"); };
  const button = (text, id, task) => h("button", { id, onclick: task }, text);
  find("#bar").replaceChildren(...[
    recording ? null : button("Stories", "stories", () => story.open()),
    button("Link", "link", () => take.link()), button("Code", "code", () => take.code()), button("Save", "save", () => take.save()),
    h("button", { id: "theme", onclick: () => { root.dataset.theme = theme() === "dark" ? "light" : "dark"; show(); } }, h("i", { class: "half", "aria-hidden": true }), name),
  ].filter(Boolean));
  if (recording) find("#link").remove();
  dark.addEventListener("change", show);
  show();
}

async function begin() {
  let catalog;
  try { catalog = await ask("catalog"); } catch (problem) { find("#lanes").replaceChildren(h("p", { class: "waiting problem" }, problem.message)); return; }
  catalog.files ??= [];
  const lab = new Lab(catalog);
  let lanes = [];
  const lanesNow = () => lanes;

  function build() {
    if (lanes.length === lab.state.lanes.length) return;
    lanes = lab.state.lanes.map((_, k) => laneView(lab, k));
    find("#lanes").replaceChildren(...lanes.map((lane) => lane.element));
    find("#lanes").dataset.count = lanes.length;
    for (const lane of lanes) lane.picture.tool(lab.tool);
  }
  const each = (task) => lanes.forEach((lane, k) => { if (lab.state.lanes[k]) task(lane, k); });
  lab.on("lanes", () => { build(); each((lane) => lane.lanes()); });
  lab.on("round", (given) => each((lane) => lane.round(given)));
  lab.on("data", (run) => each((lane, k) => { if (lab.run(k) === run) lane.data(); }));
  lab.on("rounds", (run) => each((lane, k) => { if (lab.run(k) === run || lab.state.lanes.length > 1) lane.rounds(); }));
  lab.on("tool", () => each((lane) => lane.picture.tool(lab.tool)));
  lab.on("hover", (from, point) => each((lane, k) => { if (k !== from && lab.run(k).data?.ids.length === lab.run(from).data?.ids.length) lane.hover(point); }));
  lab.mark = (ids) => { lab.marked = ids; each((lane) => lane.round({})); };
  lab.tell = () => lanes[lab.state.selected]?.words() ?? "";

  const panels = [certificatesPanel(lab), weightsPanel(lab), comparePanel(lab), filteringPanel(lab), plannerPanel(lab), instrumentsPanel(lab)];
  if (recording) for (const panel of panels.slice(3)) panel.hidden = () => true; // they need the engine
  lab.panel = (id) => panels.find((one) => one.id === id);
  lab.show = (id) => requestAnimationFrame(() => scrollTo({ top: scrollY + find(`#${id}`).getBoundingClientRect().top - find("#story").offsetHeight - 24, behavior: "auto" }));
  lab.on("theme", () => { each((lane) => lane.recolour()); for (const panel of panels) panel.recolour?.(); });
  lab.found = {};
  lab.on("instrument", (id, found) => { lab.found[id] = lab.found[found.asked ?? id] = found; });

  const own = ownView(lab, lanesNow);
  lab.ownBest = async () => {
    if (lab.tool !== "rule") lab.setTool("rule");
    while (!own.ready()) await new Promise((done) => { setTimeout(done, 30); });
    lab.helped = true;
    const { best } = own.edges();
    await own.cut(best.feature, best.threshold, best.above);
    await own.commit();
  };
  playerView(lab);
  railView(lab);
  tabsView(lab, panels);
  const story = guide(lab, openDialog);
  barView(lab, story, takeView(lab, lanesNow));
  find("#engine").textContent = recording ? `A recording: ${recording.title}.` : `pacboost ${catalog.version}.`;
  if (recording) {
    document.title = recording.title;
    document.body.classList.add("recorded");
    find(".brand span").textContent = `lab: ${recording.title}`;
  }

  const state = firstState(catalog);
  lab.state = { ...copy(START), ...state };
  lab.refresh();
  if (state.story && !recording) story.begin(state.story.id, state.story.step, true);
  else if (!location.hash && !recording && catalog.boot?.story) story.begin(catalog.boot.story);
  else if (!location.hash && !recording && !catalog.boot) story.invite();
  addEventListener("hashchange", () => {
    try { const linked = unpack(location.hash); if (linked) { lab.take(linked); } } catch { notice("This link is broken: a part of it is missing or was changed. Nothing was changed here.", "error"); }
  });
  window.lab = lab;
  window.labGuide = story;
  window.labLanes = lanesNow;
}

begin();
