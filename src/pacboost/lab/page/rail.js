// Settings: the data, the tools that change points, the booster and its weak learner.

import { h, find, menu, slider, notice, percent, whole, number } from "lab/dom.js";
import { upload, ask, recording } from "lab/api.js";
import { LETTERS } from "lab/lab.js";
import { copy } from "lab/codec.js";

const TOOLS = [
  ["look", "Look", "Point at a point to read its weight and margin"],
  ["plus", "Paint +", "Click or drag to add plus points"],
  ["minus", "Paint −", "Click or drag to add minus points"],
  ["move", "Move", "Drag points"],
  ["flip", "Flip", "Click a point to turn its label"],
  ["erase", "Erase", "Click or drag over points to delete them"],
  ["rule", "Be the weak learner", "Drag a cut, see its edge, and make it the next rule"],
];

const section = (title, ...children) => h("section", { "aria-label": title }, h("h2", {}, title), children);
const write = (knob) => (value) => (knob.max <= 1 && knob.name !== "spread" ? percent(value, knob.step < 0.01 ? 1 : 0) : knob.step >= 1 ? whole(value) : number(value, 2));

export function railView(lab) {
  const place = find("#rail");

  function dataPanel() {
    const { data } = lab.state.lanes[lab.state.selected].run;
    const entry = lab.catalog.data.find((one) => one.kind === data.kind);
    const kinds = lab.catalog.data.filter((one) => one.kind !== "csv").map((one) => [one.kind, one.title]);
    if (data.kind === "csv") kinds.push(["csv", "a CSV file"]);
    const choose = menu({ label: "Data set", id: "data-kind", options: kinds, value: data.kind, change: (kind) => lab.setData({ kind }, { fresh: true }) });
    const knobs = (entry?.knobs ?? []).filter((knob) => knob.name !== "seed").map((knob) => slider({
      label: knob.about, id: `knob-${knob.name}`, min: knob.min, max: knob.max, step: knob.step, value: data[knob.name] ?? knob.default, write: write(knob),
      change: (value) => lab.setData({ [knob.name]: value }),
    }));
    return section("Data", choose, entry ? h("p", { class: "small" }, entry.about) : null, knobs,
      data.kind === "csv" ? csvPanel(data) : null,
      h("div", { class: "row" }, data.kind === "csv" || data.kind === "points" || data.kind === "lecture" ? null
        : h("button", { class: "again", onclick: () => lab.setData({ seed: (data.seed ?? 0) + 1 }) }, "Draw again"),
      h("label", { class: "button file" }, "Open a CSV", h("input", { type: "file", accept: ".csv,text/csv", class: "unseen", id: "csv-file", disabled: Boolean(recording), onchange: (event) => open(event.target.files[0]) }))),
      lab.state.lanes.length > 1 ? h("label", { class: "check" }, h("input", { type: "checkbox", checked: lab.state.shared, onchange: (event) => lab.change((state) => { state.shared = event.target.checked; }) }), "changes go to all runs") : null);
  }

  async function open(file) {
    if (!file) return;
    const { upload_bytes: most } = lab.catalog.limits;
    if (most && file.size > most) { notice(`This file has ${whole(file.size)} bytes; the lab takes up to ${whole(most)}. Choose a smaller file, or a random sample of its rows.`, "error"); return; }
    try {
      const info = await upload(file);
      lab.catalog.files = [...lab.catalog.files.filter((one) => one.digest !== info.digest), info];
      lab.setData(info.suggest, { fresh: true });
    } catch (problem) { notice(problem.message, "error"); }
  }

  function csvPanel(data) {
    const info = lab.catalog.files.find((one) => one.digest === data.digest);
    if (!info) return h("p", { class: "small" }, "The file of this link is not open here. Choose it again.");
    const names = info.columns.filter((one) => one.kind === "number" && one.name !== data.target).map((one) => [one.name, one.name]);
    const feature = (j) => menu({ label: j ? "Upward" : "Across", id: `csv-feature-${j}`, options: names, value: data.features[j],
      change: (value) => { const features = [...data.features]; features[j] = value; lab.setData({ ...data, features }, { fresh: true }); } });
    const levels = menu({ label: "Plus is", id: "csv-positive", options: [[data.positive, data.positive]], value: data.positive, change: (value) => lab.setData({ ...data, positive: value }, { fresh: true }) });
    ask("levels", { digest: data.digest, target: data.target }).then((found) => levels.control.replaceChildren(
      ...found.levels.map(([level, count]) => h("option", { value: level, selected: String(level) === String(data.positive) }, `${level} (${whole(count)} rows)`)))).catch((problem) => notice(problem.message, "error"));
    return h("div", { class: "controls" }, h("p", { class: "small" }, `${info.name}: ${whole(info.rows)} rows, ${whole(info.columns.length)} columns`),
      menu({ label: "Target", id: "csv-target", options: info.targets.map((one) => [one, one]), value: data.target,
        change: async (target) => {
          try {
            const found = await ask("levels", { digest: data.digest, target });
            const free = info.columns.filter((one) => one.kind === "number" && one.name !== target).map((one) => one.name);
            const features = [...data.features.filter((one) => one !== target), ...free.filter((one) => !data.features.includes(one))].slice(0, 2);
            lab.setData({ ...data, target, features, positive: found.levels[0][0] }, { fresh: true });
          } catch (problem) { notice(problem.message, "error"); }
        } }), levels, feature(0), feature(1));
  }

  function toolPanel() {
    const { data } = lab.state.lanes[lab.state.selected].run;
    const run = lab.run(), fixed = run?.data && !run.data.plane;
    const edits = data.edits ?? {};
    const count = Object.keys(edits.moved ?? {}).length + (edits.flipped ?? []).length + (edits.deleted ?? []).length + (edits.added ?? []).length;
    const learner = lab.current("learner").name;
    return section("Tools", h("div", { class: "tools", role: "group", "aria-label": "What the pointer does" }, TOOLS.map(([name, title, about]) =>
      h("button", { class: name === "rule" ? "wide" : "", dataset: { tool: name }, "aria-pressed": String(lab.tool === name), title: about,
        disabled: (recording && name !== "look") || (fixed && ["plus", "minus", "move", "rule"].includes(name)) || (name === "rule" && (learner === "adversary" || lab.state.lanes[lab.state.selected].run.method === "bagging")),
        onclick: () => lab.setTool(name === lab.tool ? "look" : name) }, title))),
      h("p", { class: "small tool-about" }, TOOLS.find(([name]) => name === lab.tool)[2] + "."),
      h("div", { class: "row" },
        h("button", { class: "undo", disabled: !lab.canUndo || Boolean(recording), onclick: () => lab.undo() }, "Undo"),
        count ? h("button", { class: "unedit", onclick: () => lab.change((state) => { for (const lane of state.shared ? state.lanes : [state.lanes[state.selected]]) delete lane.run.data.edits; }) }, `Drop ${whole(count)} edits`) : null,
        data.kind === "points" || recording ? null : h("button", { class: "empty", onclick: () => { lab.setData({ kind: "points" }, { fresh: true }); lab.setTool("plus"); } }, "Empty sheet")));
  }

  function parameters(entry, now, change) {
    return (entry?.parameters ?? []).map((one) => {
      const value = now.parameters?.[one.name] ?? one.default;
      const set = (next) => change({ name: now.name, parameters: { ...copy(now.parameters ?? {}), [one.name]: next } });
      const label = one.name.replaceAll("_", " ");
      if (one.kind === "flag") return h("label", { class: "check", title: one.about }, h("input", { type: "checkbox", checked: Boolean(value), onchange: (event) => set(event.target.checked) }), label);
      if (one.kind === "choice") return menu({ label, options: one.choices.map((text) => [text, text]), value, change: set });
      const round = one.kind === "whole";
      if (one.min !== undefined && one.max !== undefined && one.min !== null && one.max !== null) {
        return slider({ label, id: `parameter-${one.name}`, min: one.min, max: one.max, step: one.step ?? (round ? 1 : one.max < 0.6 ? 0.001 : 0.01), value: value ?? one.min, write: (next) => (round ? whole(next) : number(next, 3)), change: (next) => set(round ? Math.round(next) : +next.toFixed(4)) });
      }
      const box = h("input", { type: "number", value: value ?? "", step: round ? 1 : "any", onchange: () => set(box.value === "" ? null : round ? Math.round(+box.value) : +box.value) });
      return h("label", { class: "field", title: one.about }, h("span", { class: "name" }, label), box);
    });
  }

  function methodPanel() {
    const k = lab.state.selected, lane = lab.state.lanes[k], many = lab.state.lanes.length > 1;
    const booster = lab.current("booster"), learner = lab.current("learner");
    const entry = lab.catalog.boosters.find((one) => one.name === booster.name);
    const weak = lab.catalog.learners.find((one) => one.name === learner.name);
    const bagging = lane.run.method === "bagging";
    const title = `Method${many ? ` of run ${LETTERS[k]}` : ""}${lane.at ? `, after round ${lane.at}` : ""}`;
    const way = h("div", { class: "segments", role: "group", "aria-label": "Boosting or bagging" }, [["boost", "Boosting"], ["bagging", "Bagging"]].map(([name, text]) =>
      h("button", { "aria-pressed": String(lane.run.method === name), disabled: lane.at > 0 || Boolean(recording), onclick: () => lab.setMethod("method", name) }, text)));
    const set = (part) => (value) => lab.setMethod(part, value);
    return section(title, way,
      bagging ? null : [menu({ label: "Booster", id: "booster", options: lab.catalog.boosters.map((one) => [one.name, one.title]), value: booster.name, change: (name) => set("booster")({ name, parameters: {} }) }),
        h("p", { class: "small" }, entry?.about), parameters(entry, booster, set("booster"))],
      menu({ label: "Weak learner", id: "learner", options: lab.catalog.learners.map((one) => [one.name, one.title]), value: learner.name, change: (name) => set("learner")({ name, parameters: {} }) }),
      h("p", { class: "small" }, weak?.about), parameters(weak, learner, set("learner")),
      lane.run.rules.length ? h("div", { class: "row apart" }, h("span", { class: "small" }, `${lane.run.rules.length} rules set by hand`), h("button", { onclick: () => lab.change((state) => { state.lanes[k].run.rules = []; }) }, "Drop them")) : null);
  }

  function draw() {
    const focus = document.activeElement?.id;
    place.replaceChildren(dataPanel(), toolPanel(), methodPanel());
    if (recording) for (const control of place.querySelectorAll("input, select")) control.disabled = true;
    if (focus) document.getElementById(focus)?.focus();
  }
  lab.on("lanes tool", draw);
  lab.on("data", (run) => { if (run === lab.run()) draw(); });
  document.addEventListener("dragover", (event) => { if (event.dataTransfer?.types.includes("Files")) event.preventDefault(); });
  document.addEventListener("drop", (event) => { const file = event.dataTransfer?.files[0]; if (file && !recording) { event.preventDefault(); open(file); } });
}
