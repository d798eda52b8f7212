// Where the weight is: the effective sample size by round, and the heaviest points, which may be wrong labels.

import { h, number, percent, whole } from "lab/dom.js";
import { lineChart } from "lab/chart.js";
import { recording } from "lab/api.js";

export function weightsPanel(lab) {
  const chart = lineChart({ title: "Effective sample size", wholeX: true, xName: "round", write: (value) => whole(value), pick: (value) => lab.goto(value) });
  const body = h("tbody");
  const caption = h("caption");
  const table = h("table", {}, caption, h("thead", {}, h("tr", {}, h("th", {}, "point"), h("th", {}, "class"), h("th", { class: "n" }, "weight"), h("th", { class: "n" }, "times the average"), h("th", { class: "n" }, "margin"), h("th", {}, "the vote"), h("td", {}))), body);
  const element = h("div", { class: "two" },
    h("div", { class: "lead" }, h("h2", {}, "Where the weight is"),
      h("p", {}, "Boosting looks harder at points that the rules get wrong. A point that stays heavy round after round is difficult, or its label is wrong."),
      h("p", {}, "The effective sample size, 1/ΣD², is the number of points of equal weight that the weights are worth. When it falls far, a few points decide everything.")),
    h("div", { class: "column" }, h("div", { class: "panel scroll" }, table), chart.element));

  function rows() {
    const run = lab.run(), t = Math.min(lab.state.round, run.done), round = run.at(t), n = run.data?.ids.length ?? 0;
    const list = (t > 0 ? round?.heaviest : run.start?.next?.heaviest) ?? [];
    caption.textContent = t > 0 ? `The heaviest points in round ${t}` : "All points have the same weight at the start";
    body.replaceChildren(...(t > 0 && run.data ? list : []).map(([id, weight]) => {
      const k = run.data.place.get(id), margin = round.margins[k], noisy = run.data.flipped.includes(id);
      const row = h("tr", { onpointerenter: () => lab.mark([id]), onpointerleave: () => lab.mark([]) },
        h("th", {}, String(id)), h("td", {}, run.data.classes[run.data.label[k] > 0 ? 1 : 0]),
        h("td", { class: "n" }, number(weight)), h("td", { class: "n" }, `${number(weight * n, 1)} ×`), h("td", { class: "n" }, number(margin, 3)),
        h("td", {}, (margin > 0 ? "right" : "wrong") + (noisy ? ", label was turned" : "")),
        h("td", {}, recording ? null : h("button", { class: "flip", onclick: () => { lab.mark([]); lab.flipPoint(k); } }, "Turn its label", h("span", { class: "unseen" }, ` (point ${id})`))));
      return row;
    }));
  }

  function curve() {
    const run = lab.run(), n = run.data?.ids.length ?? 1;
    chart.draw({ series: [{ name: "effective sample size", tone: "blue", x: run.rounds.map((round) => round.number), y: run.rounds.map((round) => round.effective_size) }],
      xRange: [0, Math.max(2, lab.last)], yRange: [0, n * 1.05], marks: [{ y: n, text: `all ${whole(n)} points` }],
      text: `Effective sample size by round, of ${whole(n)} points.` });
    cursor();
  }
  const cursor = () => {
    const run = lab.run(), t = Math.min(lab.state.round, run.done), round = run.at(t);
    chart.cursor(t || null, round ? `Effective sample size: ${number(round.effective_size, 1)} in round ${t}, ${percent(round.effective_size / run.data.ids.length)} of all points.` : undefined);
  };
  return { id: "weights", title: "Weights", element, show() { rows(); curve(); }, round() { rows(); cursor(); }, rounds() { rows(); curve(); } };
}
