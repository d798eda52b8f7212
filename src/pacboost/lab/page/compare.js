// Runs side by side in numbers and on the same axes.

import { h, atLeast, atMost, number, percent, round100 } from "lab/dom.js";
import { lineChart } from "lab/chart.js";
import { LETTERS } from "lab/lab.js";
import { methodWords } from "lab/words.js";

const TONES = ["blue", "gold", "green"], DASHES = ["", "dash", "dots"];

export function comparePanel(lab) {
  const chart = (title, field, low) => ({ field, low, view: lineChart({ title, wholeX: true, xName: "round", write: (value) => (low ? number(value, 2) : round100(value)), pick: (value) => lab.goto(value) }) });
  const charts = [chart("Training error", (round) => round.training_error), chart("Test error", (round) => round.test?.error ?? null), chart("Least margin", (round) => round.least_margin, true)];
  const body = h("tbody"), head = h("thead");
  const element = h("div", { class: "column" }, h("h2", {}, "Runs side by side"), h("div", { class: "panel scroll" }, h("table", {}, head, body)), h("div", { class: "cards wide-cards" }, charts.map(({ view }) => view.element)));
  const ROWS = [["round", (round) => String(round.number)], ["training error", (round) => percent(round.training_error)], ["test error", (round) => percent(round.test?.error)],
    ["its 95 % interval", (round) => (round.test ? `${atLeast(round.test.lower)} to ${atMost(round.test.upper)}` : "–")], ["least margin", (round) => number(round.least_margin, 3)],
    ["edge of this round's rule", (round) => number(round.edge, 3)], ["effective sample size", (round) => number(round.effective_size, 1)]];

  function table() {
    const runs = lab.runs(), rounds = runs.map((run) => run.at(Math.min(lab.state.round, run.done)));
    head.replaceChildren(h("tr", {}, h("td", {}), runs.map((_, k) => h("th", { class: "n" }, `${LETTERS[k]}: ${methodWords(lab, k).main}`))));
    body.replaceChildren(...ROWS.map(([name, write]) => h("tr", {}, h("th", {}, name), rounds.map((round) => h("td", { class: "n" }, round ? write(round) : "–")))));
    for (const { view } of charts) view.cursor(lab.state.round || null);
  }
  function curves() {
    const runs = lab.runs();
    for (const { field, low, view } of charts) {
      const series = runs.map((run, k) => ({ name: `${LETTERS[k]} ${methodWords(lab, k).main}`, tone: TONES[k], dash: DASHES[k], x: run.rounds.map((round) => round.number), y: run.rounds.map(field) }));
      const all = series.flatMap((one) => one.y).filter((value) => value !== null);
      view.draw({ series, xRange: [0, Math.max(2, lab.last)], yRange: low ? [Math.min(-0.1, ...all), Math.max(0.1, ...all)] : [0, Math.max(0.05, Math.min(1, Math.max(0, ...all) * 1.1))],
        text: `${view.element.querySelector("h3").textContent} by round for ${runs.length} runs.` });
    }
    table();
  }
  return { id: "compare", title: "Compare", element, hidden: () => lab.state.lanes.length < 2, show: curves, round: table, rounds: curves };
}
