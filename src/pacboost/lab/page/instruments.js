// The theory as instruments: PAC by simulation, shattering, and the measure of lecture 003.

import { h, find, atLeast, atMost, slider, number, percent, round100, whole, menu } from "lab/dom.js";
import { lineChart } from "lab/chart.js";
import { stage } from "lab/stage.js";
import { ask } from "lab/api.js";
import { f32 } from "lab/codec.js";

/** One instrument: a title, a question, controls, and a drawing of the answer. */
function instrument(lab, { id, title, about, fields, ask: question, draw, more = [] }) {
  const values = Object.fromEntries(fields.map((field) => [field.name, field.value]));
  const words = h("p", { class: "statement" }), problem = h("p", { class: "problem", hidden: true }), picture = h("div", { class: "cards wide-cards" });
  const button = h("button", { class: "first", id: `run-${id}`, onclick: () => start() }, "Compute");
  const others = more.map(([name, label, extra]) => h("button", { id: `run-${name}`, onclick: () => start(extra) }, label));
  const controls = h("div", { class: "controls" }, fields.map((field) => (field.options
    ? menu({ label: field.label, id: `${id}-${field.name}`, options: field.options, value: field.value, change: (value) => { values[field.name] = value; } })
    : slider({ ...field, id: `${id}-${field.name}`, change: (value) => { values[field.name] = value; } }))), button, others);
  async function start(extra = {}) {
    button.disabled = true; button.textContent = "Computing …"; problem.hidden = true;
    for (const [name, value] of Object.entries(extra)) { const control = find(`#${id}-${name}`); if (control) { control.value = value; values[name] = value; } }
    try {
      const found = await question({ ...values, ...extra });
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

function measure(lab) {
  const worlds = lab.catalog.data.filter((one) => ["rings", "moons", "stripes", "spirals", "rectangle", "xor"].includes(one.kind));
  return instrument(lab, {
    id: "measure", title: "The measure and the elevator", about: "Boosting by filtering as in lecture 003, with 1,000 examples in memory. An example rides up one floor with every stump that is right on it, and down with every one that is wrong. The filter keeps it by the ramp: always up to floor 0, less often on higher floors, never from 1/(εγ) on. The naive filter throws away all that the vote gets right.",
    fields: [{ name: "kind", label: "World", options: worlds.map((one) => [one.kind, one.title]), value: "rings" }, { name: "edge", label: "γ, promised edge", min: 0.05, max: 0.5, step: 0.05, value: 0.1, write: (value) => number(value, 2) }, { name: "epsilon", label: "ε, where µ may stop", min: 0.05, max: 0.4, step: 0.01, value: 0.15, write: (value) => percent(value, 0) }],
    more: [["naive", "Try the naive filter", { filter: "naive" }]],
    ask: ({ kind, edge, epsilon, filter = "ramp" }) => ask("measure", { data: { kind }, edge, epsilon, filter }),
    draw(found, place, { epsilon }) {
      const xs = found.means.map((_, k) => k), last = found.rounds, xRange = [0, Math.max(1, last)], round = { wholeX: true, xName: "round" };
      const all = found.floors.flatMap((one) => one.floors), ends = [Math.min(-2, ...all), Math.max(2, 1.05 / found.slope, ...all)];
      const most = Math.max(...found.floors.flatMap((one) => one.shares)), high = Math.max(1, ...found.bound);
      const charts = [
        [lineChart({ title: "The ramp M(N): the chance to be kept", xName: "floor N", write: round100, height: 150 }), { series: [{ name: "M", tone: "gold", x: [ends[0], 0, 1 / found.slope, ends[1]], y: [1, 1, 0, 0] }], noDots: true, xRange: ends, yRange: [0, 1], text: `The ramp falls from 1 on floor 0 to 0 on floor ${number(1 / found.slope, 1)}.` }],
        [lineChart({ title: "Examples by floor", xName: "floor N", write: round100 }), { series: found.floors.map((one, k) => ({ name: `after round ${one.round}`, tone: k ? "blue" : "gold", dash: k ? "" : "dash", step: true, x: one.floors, y: one.shares })), noDots: true, xRange: ends, yRange: [0, most], marks: [{ x: 0 }], text: `After round ${last} the examples stand on floors ${found.floors.at(-1).floors[1]} to ${found.floors.at(-1).floors.at(-2)}.` }],
        [lineChart({ title: "Elevator lemma: rides collect Σ ±M", ...round }), { series: [{ name: "bound 1/(2εγ) + εγi/2", tone: "gold", dash: "dash", x: xs, y: found.bound }, { name: "largest A", tone: "blue", x: xs, y: found.largest }, { name: "mean A", tone: "green", x: xs, y: found.collected }, { name: "εγi, its least", tone: "green", dash: "dash", thin: true, x: xs, y: found.least }], noDots: true, xRange, yRange: [0, high], text: `No ride collects more than the bound, ${number(found.bound.at(-1), 2)} in the end; the largest is ${number(found.largest.at(-1), 2)}.` }],
        [lineChart({ title: "µ(M) and the error", ...round, write: round100 }), { series: [{ name: "µ", tone: "blue", x: xs, y: found.means }, { name: "error, ties included", tone: "gold", dash: "dash", x: xs, y: found.errors }], noDots: true, xRange, yRange: [0, 1], marks: [{ y: epsilon, text: "ε: stop below" }], text: `The mean of the measure ends at ${percent(found.means.at(-1))}, the error at ${percent(found.errors.at(-1))}.` }],
      ];
      place.append(...charts.map(([chart]) => chart.element));
      charts.forEach(([chart, content]) => chart.draw(content));
    },
  });
}

export function instrumentsPanel(lab) {
  const list = [pac, shatters, measure].map((make) => make(lab));
  const names = { pac: "PAC", shatters: "Shattering", measure: "Measure" };
  const buttons = list.map((one) => h("button", { "aria-pressed": "false", id: `choose-${one.id}`, onclick: () => show(one.id) }, names[one.id]));
  function show(id) { list.forEach((one, k) => { one.element.hidden = one.id !== id; buttons[k].setAttribute("aria-pressed", String(one.id === id)); }); }
  show("pac");
  return { id: "instruments", title: "Instruments", element: h("div", { class: "column" }, h("div", { class: "row", role: "group", "aria-label": "Instrument" }, buttons), list.map((one) => one.element)), open: show, get: (id) => list.find((one) => one.id === id) };
}
