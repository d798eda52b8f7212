// The theory as instruments: PAC by simulation, and shattering.

import { h, atLeast, atMost, slider, number, percent, whole, menu } from "lab/dom.js";
import { lineChart } from "lab/chart.js";
import { stage } from "lab/stage.js";
import { ask } from "lab/api.js";
import { f32 } from "lab/codec.js";

/** One instrument: a title, a question, controls, and a drawing of the answer. */
function instrument(lab, { id, title, about, fields, ask: question, draw }) {
  const values = Object.fromEntries(fields.map((field) => [field.name, field.value]));
  const words = h("p", { class: "statement" }), problem = h("p", { class: "problem", hidden: true }), picture = h("div", { class: "cards wide-cards" });
  const button = h("button", { class: "first", id: `run-${id}`, onclick: () => start() }, "Compute");
  const controls = h("div", { class: "controls" }, fields.map((field) => (field.options
    ? menu({ label: field.label, options: field.options, value: field.value, change: (value) => { values[field.name] = value; } })
    : slider({ ...field, id: `${id}-${field.name}`, change: (value) => { values[field.name] = value; } }))), button);
  async function start() {
    button.disabled = true; button.textContent = "Computing …"; problem.hidden = true;
    try {
      const found = await question(values);
      words.textContent = found.sentence;
      picture.replaceChildren();
      draw(found, picture, values);
      lab.emit("instrument", id, found);
    } catch (trouble) { problem.textContent = trouble.message; problem.hidden = false; }
    button.disabled = false; button.textContent = "Compute";
  }
  return { id, title, start, values, element: h("div", { class: "two", id: `instrument-${id}`, hidden: true }, h("div", { class: "lead" }, h("h2", {}, title), h("p", {}, about), controls), h("div", { class: "column" }, words, problem, picture)) };
}

function pac(lab) {
  return instrument(lab, {
    id: "pac", title: "How often is the learned rule too wrong?", about: "A target box is hidden. The learner sees m examples and answers with the tightest box around the plus points. Many repetitions count how often its error is above ε, and the bounds say how often that can happen at most.",
    fields: [{ name: "m", label: "m, examples", min: 10, max: 300, step: 2, value: 76, write: whole }, { name: "epsilon", label: "ε", min: 0.02, max: 0.3, step: 0.01, value: 0.1, write: (value) => percent(value, 0) }, { name: "trials", label: "repetitions", min: 50, max: 500, step: 50, value: 200, write: whole }],
    ask: (values) => ask("pac", { world: "rectangle", delta: 0.05, seed: 0, ...values }),
    draw(found, place, { epsilon }) {
      const risks = f32(found.risks), xs = [...risks], ys = xs.map((_, k) => (k + 1) / xs.length);
      const chart = lineChart({ title: "Errors of the learned boxes", xName: "true error", write: (value) => percent(value, 0), writeX: (value) => percent(value, 0) });
      const table = h("div", { class: "panel scroll" }, h("table", {}, h("caption", {}, "Chance that the error is above ε"), h("tbody", {},
        h("tr", {}, h("th", {}, `measured: ${whole(found.failures)} of ${whole(found.trials)}`), h("td", { class: "n" }, `${atLeast(found.lower)} to ${atMost(found.upper)}`)),
        found.bounds.map((bound) => h("tr", {}, h("th", {}, `bound: ${bound.name}`), h("td", { class: "n" }, atMost(bound.value)))))));
      const view = stage({ label: "A sample, the target box and the learned box." });
      place.append(h("figure", { class: "panel" }, h("h3", {}, "One of the samples"), view.element), chart.element, table);
      const { x, y, label } = found.sample;
      view.show({ box: [0, 1, 0, 1], names: ["x0", "x1"], xs: x, ys: y, labels: label, weights: null, boxes: [[found.target, "soft"], ...(found.box ? [[found.box, "ink"]] : [])], text: `A sample of ${x.length} points with the target box and the tightest box inside it; its error is ${percent(found.risk)}.` });
      chart.draw({ series: [{ name: "share of learned boxes", tone: "blue", x: xs, y: ys, noDot: true }], noDots: true, xRange: [0, Math.max(0.02, xs.at(-1) * 1.05, epsilon * 1.2)], yRange: [0, 1], marks: [{ x: epsilon, text: "ε" }], text: `Distribution of the true error over ${xs.length} repetitions.` });
    },
  });
}

function shatters(lab) {
  return instrument(lab, {
    id: "shatters", title: "Which labelings can a class give?", about: "A class of rules shatters points if it can label them in every way. The more points it can shatter, the more examples it takes to learn. These are the first points of the picture.",
    fields: [{ name: "count", label: "points", min: 1, max: 6, step: 1, value: 3, write: whole }],
    ask: (values) => {
      const { data } = lab.run(), points = [...Array(Math.min(+values.count, data.ids.length)).keys()].map((k) => [data.x[k], data.y[k]]);
      return ask("shatters", { points, learner: lab.current("learner") });
    },
    draw(found, place) {
      place.append(h("div", { class: "panel" }, h("h3", {}, "All labelings"), h("ul", { class: "labelings" }, (found.labelings ?? []).map((one) => h("li", { class: one.found ? "found" : "missed" }, one.signs.map((sign) => (sign > 0 ? "+" : "−")).join(" "), h("span", {}, one.found ? " given" : " not given"))))));
    },
  });
}

export function instrumentsPanel(lab) {
  const list = [pac, shatters].map((make) => make(lab));
  const names = { pac: "PAC", shatters: "Shattering" };
  const buttons = list.map((one) => h("button", { "aria-pressed": "false", id: `choose-${one.id}`, onclick: () => show(one.id) }, names[one.id]));
  function show(id) { list.forEach((one, k) => { one.element.hidden = one.id !== id; buttons[k].setAttribute("aria-pressed", String(one.id === id)); }); }
  show("pac");
  return { id: "instruments", title: "Instruments", element: h("div", { class: "column" }, h("div", { class: "row", role: "group", "aria-label": "Instrument" }, buttons), list.map((one) => one.element)), open: show, get: (id) => list.find((one) => one.id === id) };
}
