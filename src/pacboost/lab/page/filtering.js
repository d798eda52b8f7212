// Boosting by filtering: a filter keeps the hard examples of a stream.

import { h, menu, slider, number, percent, round100, whole } from "lab/dom.js";
import { lineChart } from "lab/chart.js";
import { stage } from "lab/stage.js";
import { ask } from "lab/api.js";
import { certificateCard } from "lab/certificates.js";

const WORLDS = new Set(["lecture", "points", "csv"]);

export function filteringPanel(lab) {
  const worlds = lab.catalog.data.filter((one) => !WORLDS.has(one.kind) && one.plane !== false);
  const given = { kind: "rings", booster: "logit", edge: null, epsilon: 0.15, delta: 0.05, rounds: 30 };
  if (!worlds.some((one) => one.kind === given.kind)) given.kind = worlds[0]?.kind;
  const controls = h("div", { class: "controls" });
  const words = h("p", { class: "statement" }, "Start the stream to see what the filter keeps.");
  const problem = h("p", { class: "problem", hidden: true });
  const chart = (title, write, log) => lineChart({ title, wholeX: true, xName: "refill", write, log, height: 200 });
  const acceptance = chart("Acceptance: share of the stream that is kept", round100);
  const measure = chart("µ, mean of the measure, and the error", round100);
  const draws = chart("Examples drawn so far", (value) => whole(value), true);
  const kept = stage({ label: "No stream yet." });
  const keptPanel = h("figure", { class: "panel" }, h("h3", {}, "What the filter keeps in the end"), kept.element);
  const proof = h("div", {});
  const results = h("div", { class: "cards wide-cards", hidden: true }, acceptance.element, measure.element, draws.element, keptPanel, proof);
  const element = h("div", { class: "two" },
    h("div", { class: "lead" }, h("h2", {}, "Boosting by filtering"),
      h("p", {}, "There is no training set here, but an endless stream. Each new example is kept with a probability that is high where the vote is wrong. The better the vote, the longer the filter waits for examples that it finds hard: the acceptance falls with the error."), controls),
    h("div", { class: "column" }, words, problem, results));
  let button;

  function form() {
    button = h("button", { class: "first start-filter", onclick: start }, "Start the stream");
    controls.replaceChildren(
      menu({ label: "World", id: "filter-world", options: worlds.map((one) => [one.kind, one.title]), value: given.kind, change: (kind) => { given.kind = kind; } }),
      menu({ label: "Filter", id: "filter-booster", options: lab.catalog.filtering.boosters.map((name) => [name, lab.catalog.boosters.find((one) => one.name === name)?.title ?? name]), value: given.booster, change: (name) => { given.booster = name; } }),
      slider({ label: "ε, the error to reach", id: "filter-epsilon", min: 0.05, max: 0.4, step: 0.01, value: given.epsilon, write: (value) => percent(value, 0), change: (value) => { given.epsilon = value; } }),
      slider({ label: "promised edge", id: "filter-edge", min: 0, max: 0.5, step: 0.05, value: given.edge ?? 0, write: (value) => (value ? number(value, 2) : "none"), change: (value) => { given.edge = value || null; } }),
      slider({ label: "most rounds", id: "filter-rounds", min: 5, max: 100, step: 5, value: given.rounds, write: whole, change: (value) => { given.rounds = value; } }), button);
  }

  async function start() {
    button.disabled = true; button.textContent = "Drawing …"; problem.hidden = true;
    try {
      const found = await ask("filtering", { data: { kind: given.kind, seed: 0 }, learner: { name: "stump", parameters: {} }, booster: given.booster, edge: given.edge, epsilon: given.epsilon, delta: given.delta, rounds: given.rounds, seed: 0 });
      await draw(found);
    } catch (trouble) { problem.textContent = trouble.message; problem.hidden = false; }
    button.disabled = false; button.textContent = "Start the stream";
  }

  async function draw(found) {
    const list = found.refills, xs = list.map((one) => one.number), pick = (name) => list.map((one) => one[name]);
    const xRange = [0, Math.max(2, ...xs)], last = list.at(-1);
    results.hidden = false;
    words.textContent = `${whole(found.draws_total)} examples drawn for ${whole(found.rounds.length)} rules${last ? `; the last refill kept ${percent(last.acceptance)} of what it saw` : ""}. ${found.stopped ? `It stopped: ${found.stopped}.` : ""} ${found.truth ? `On ${whole(found.truth.n)} fresh examples the vote is wrong on ${percent(found.truth.error)}.` : ""}`;
    acceptance.draw({ series: [{ name: "acceptance", tone: "blue", x: xs, y: pick("acceptance") }], xRange, yRange: [0, Math.max(0.1, ...pick("acceptance"))], text: `Acceptance by refill, from ${percent(list[0]?.acceptance)} to ${percent(last?.acceptance)}.` });
    measure.draw({ series: [{ name: "µ", tone: "blue", x: xs, y: pick("mean"), low: pick("lower"), high: pick("upper") }, { name: "error", tone: "gold", dash: "dash", x: xs, y: pick("error") }], xRange,
      yRange: [0, Math.max(0.1, ...pick("upper").filter((one) => one !== null), ...pick("error").filter((one) => one !== null))], text: `The mean of the measure by refill ends at ${percent(last?.mean)}; the error at ${percent(last?.error)}.` });
    let sum = 0;
    const total = pick("draws").map((one) => (sum += one));
    const planned = found.plan?.number ?? null, most = Math.max(10, sum, planned ?? 0);
    draws.draw({ series: [{ name: "drawn", tone: "blue", x: xs, y: total }], log: true, xRange, yRange: [10 ** Math.floor(Math.log10(Math.max(1, total[0] ?? 1))), 10 ** Math.ceil(Math.log10(most))],
      marks: planned ? [{ y: planned, text: `the plan: ${whole(planned)} suffice` }] : [], text: `${whole(sum)} examples drawn${planned ? `; the theorem's plan allows ${whole(planned)}` : ""}.` });
    for (const one of [acceptance, measure, draws]) one.resize();
    keptPanel.hidden = !found.kept?.length;
    if (found.kept?.length) {
      const [xs2, ys2, labels] = [0, 1, 2].map((j) => found.kept.map((row) => row[j]));
      const margin = (low, high) => [low - 0.05 * (high - low || 1), high + 0.05 * (high - low || 1)];
      kept.show({ box: [...margin(Math.min(...xs2), Math.max(...xs2)), ...margin(Math.min(...ys2), Math.max(...ys2))], names: ["x0", "x1"], xs: xs2, ys: ys2, labels, weights: null, text: `${xs2.length} fresh examples that the filter keeps under the final vote.` });
    }
    proof.replaceChildren(...(found.certificate ? [certificateCard(found.certificate)] : []));
    lab.lastFiltering = found;
    lab.emit("filtered", found);
  }
  return { id: "filtering", title: "Filtering", element, show() { if (!controls.children.length) form(); }, start, set: (values) => { Object.assign(given, values); form(); }, recolour: () => kept.recolour() };
}
