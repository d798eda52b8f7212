// The theory as instruments: the game, the hard core, PAC by simulation, and shattering.

import { h, atLeast, atMost, slider, number, percent, whole, menu } from "lab/dom.js";
import { lineChart } from "lab/chart.js";
import { stage } from "lab/stage.js";
import { ask } from "lab/api.js";
import { f32 } from "lab/codec.js";

const votes = (list) => h("div", { class: "scroll" }, h("table", {}, h("caption", {}, "The vote"), h("thead", {}, h("tr", {}, h("th", {}, "rule"), h("th", { class: "n" }, "vote"))),
  h("tbody", {}, list.slice(0, 12).map((one) => h("tr", {}, h("td", {}, one.rule), h("td", { class: "n" }, number(one.vote)))))));

/** One instrument: a title, a question, controls, and what it draws from the answer. */
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

/** A small picture of the selected run's points under other weights. */
function weighted(lab, title, weights, text) {
  const { data } = lab.run(), view = stage({ label: text });
  const total = weights.reduce((sum, one) => sum + one, 0) || 1;
  view.show({ box: data.box, names: data.names, xs: data.x, ys: data.y, labels: data.label, weights: weights.map((one) => one / total), text });
  return h("figure", { class: "panel" }, h("h3", {}, title), view.element);
}

const spec = (lab) => { const { run } = lab.state.lanes[lab.state.selected]; return { data: run.data, learner: lab.current("learner") }; };

function game(lab) {
  return instrument(lab, {
    id: "game", title: "Can this learner be boosted here?", about: "Rows and rules play a game: the rows choose weights, the learner answers with a rule. The value of the game is the edge that the learner has under every distribution over these points, and the largest least margin that a vote can have.",
    fields: [{ name: "rounds", label: "rounds of Hedge", min: 10, max: 400, step: 10, value: 100, write: whole }],
    ask: (values) => ask("game", { ...spec(lab), ...values }),
    draw(found, place) {
      const { lower, upper } = found.path, xs = lower.map((_, k) => k + 1);
      const chart = lineChart({ title: "The value between its two ends", wholeX: true, xName: "rounds of Hedge", write: (value) => number(value, 2) });
      place.append(chart.element);
      const all = [...lower, ...upper].filter((one) => one !== null);
      chart.draw({ series: [{ name: "what rows can force", tone: "red", x: xs, y: upper, noDot: true }, { name: "what rules can force", tone: "blue", x: xs, y: lower, noDot: true }], xRange: [0, Math.max(2, xs.length)], yRange: [Math.min(0, ...all), Math.max(0.1, ...all)],
        text: `The value of the game lies between ${number(found.lower)} and ${number(found.upper)}.` });
      place.append(weighted(lab, "The hardest weights", f32(found.weights), "Points with areas by the hardest weights."), votes(found.votes));
    },
  });
}

function hardCore(lab) {
  return instrument(lab, {
    id: "hard_core", title: "What can these features not explain?", about: "A hard core is a part of the points on which no rule has the edge that you ask for. Either there is one of the density you ask for, or there is a vote that is right almost everywhere.",
    fields: [{ name: "edge", label: "edge", min: 0.02, max: 0.6, step: 0.02, value: 0.2, write: (value) => number(value, 2) }, { name: "density", label: "density", min: 0.05, max: 1, step: 0.05, value: 0.2, write: (value) => percent(value, 0) }],
    ask: (values) => ask("hard_core", { ...spec(lab), ...values }),
    draw(found, place) {
      if (found.measure) place.append(weighted(lab, "The hard core", f32(found.measure), "Points with areas by the measure of the hard core."));
      if (found.vote) place.append(votes(found.vote));
    },
  });
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
  const list = [game, hardCore, pac, shatters].map((make) => make(lab));
  const names = { game: "The game", hard_core: "The hard core", pac: "PAC", shatters: "Shattering" };
  const buttons = list.map((one) => h("button", { "aria-pressed": "false", id: `choose-${one.id}`, onclick: () => show(one.id) }, names[one.id]));
  function show(id) { list.forEach((one, k) => { one.element.hidden = one.id !== id; buttons[k].setAttribute("aria-pressed", String(one.id === id)); }); }
  show("game");
  return { id: "instruments", title: "Instruments", element: h("div", { class: "column" }, h("div", { class: "row", role: "group", "aria-label": "Instrument" }, buttons), list.map((one) => one.element)), open: show, get: (id) => list.find((one) => one.id === id) };
}
