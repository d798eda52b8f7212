// Be the weak learner: drag a cut, see its weighted error, and make it the next round's rule.

import { h, atMost, number, percent, notice, announce } from "lab/dom.js";
import { ask } from "lab/api.js";
import { lineChart } from "lab/chart.js";

export function ownView(lab, lanes) {
  let asked = "", waiting = false, edges = null, chart = null;

  const view = () => lanes()[lab.state.selected];

  /** Ask once per round for the errors of all cuts under the next round's weights. */
  async function prepare() {
    const k = lab.state.selected, run = lab.run(), after = lab.state.round;
    const key = `${run.key}|${after}`;
    if (asked === key && (lab.own || waiting)) return;
    asked = key; waiting = true;
    try {
      const [found, next] = await Promise.all([ask("edges", { run: run.spec, after }), run.nextWeights(after)]);
      if (asked !== key || lab.tool !== "rule") return;
      edges = found;
      const middle = found.features[0], place = middle.cuts[Math.floor(middle.cuts.length / 2)];
      lab.own = { lane: k, weights: next?.weights ?? null, feature: 0, above: 1, rule: null, would: null };
      cut(0, place ?? 0, 1);
    } catch (problem) { asked = ""; notice(problem.message, "error"); lab.setTool("look"); } finally { waiting = false; }
  }

  function nearest(list, value) {
    let best = 0;
    list.forEach((one, j) => { if (Math.abs(one - value) < Math.abs(list[best] - value)) best = j; });
    return best;
  }

  /** Move the cut to the nearest threshold between two points. */
  function cut(feature, value, above) {
    const axis = edges.features[feature], j = nearest(axis.cuts, value);
    if (j === undefined || !axis.cuts.length) return;
    const error = above > 0 ? axis.errors[j] : axis.turned[j];
    Object.assign(lab.own, { feature, above, rule: { feature, threshold: axis.cuts[j], above }, error, edge: axis.edges[j], would: null });
    draw();
    lab.emit("round", {});
  }

  async function weigh() {
    const { own } = lab, run = lab.run();
    if (!own?.rule) return;
    try {
      const found = await ask("weigh", { run: run.spec, after: lab.state.round, rule: own.rule });
      if (lab.own === own && lab.own.rule) { own.would = found; draw(); announce(`Weighted error ${percent(own.error)}.`); }
    } catch (problem) { notice(problem.message, "error"); }
  }

  function draw() {
    const lane = view();
    for (const other of lanes()) other.own.hidden = other !== lane || lab.tool !== "rule" || !lab.own?.rule;
    if (!lane || lane.own.hidden) return;
    const { own } = lab, { best } = edges, axis = edges.features[own.feature];
    const better = own.error < 0.5;
    const share = best.edge > 0 ? Math.max(0, better ? own.edge / best.edge : 0) : 0;
    if (!chart || !lane.own.contains(chart.element)) {
      chart = lineChart({ title: "Edge of every cut on this axis", xName: axis.name, write: (value) => number(value, 2), height: 150, pick: (value) => { cut(lab.own.feature, value, lab.own.above); } });
      chart.element.classList.remove("panel");
      lane.own.replaceChildren(h("h3", {}, ""), h("p", { class: "own-words" }), h("dl", { class: "figures" }), h("div", { class: "row own-buttons" }), chart.element);
    }
    const [title, words, values, buttons] = lane.own.children;
    title.textContent = `Your rule for round ${edges.number}`;
    words.textContent = better
      ? `Your cut is wrong on ${percent(own.error)} of the weight. Guessing would be wrong on ${percent(edges.guess)}: any cut that is better will do.`
      : `Your cut is wrong on ${percent(own.error)} of the weight, no better than chance. Move it, or swap its sides.`;
    const would = own.would?.round;
    values.replaceChildren(...[["weighted error", number(own.error)], ["edge", number(better ? own.edge : -own.edge)], ["best edge", number(best.edge)],
      ["its vote", would ? number(would.vote) : "…"], ["new bound", would ? atMost(would.bound) : "…"]].map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))));
    const press = (text, task, kind = "") => h("button", { class: kind, onclick: task }, text);
    if (!buttons.children.length) {
      buttons.append(press("Make it the rule", () => commit(), "first commit"),
        press("Turn the cut", () => { const other = 1 - lab.own.feature, cuts = edges.features[other]?.cuts ?? []; if (cuts.length) { cut(other, cuts[Math.floor(cuts.length / 2)], lab.own.above); weigh(); } }, "turn"),
        press("Swap sides", () => { cut(lab.own.feature, lab.own.rule.threshold, -lab.own.above); weigh(); }, "swap"),
        press("Show the best cut", () => { lab.helped = true; cut(edges.best.feature, edges.best.threshold, edges.best.above); weigh(); }, "best"));
    }
    buttons.firstChild.disabled = !better;
    own.share = share;
    chart.draw({ xName: axis.name, series: [{ name: axis.name, quiet: true, tone: "blue", x: axis.cuts, y: axis.edges, noDot: true }], noDots: true,
      xRange: [axis.cuts[0], axis.cuts.at(-1) + (axis.cuts.length > 1 ? 0 : 1)], yRange: [0, Math.max(0.1, best.edge * 1.1)],
      marks: [{ x: own.rule.threshold, tone: "ink" }], text: `Edge of every cut on ${axis.name}. Yours, at ${number(own.rule.threshold, 2)}, has ${number(own.edge)}; the best of all has ${number(best.edge)}.` });
  }

  async function commit() {
    const { own } = lab;
    if (!own?.rule || own.error >= 0.5) return;
    const given = { rule: own.rule, edge: own.edge, best: edges.best.edge };
    asked = "";
    await lab.commitRule(own.rule);
    lab.emit("ownRule", given);
  }

  lab.on("cut", (k, place) => {
    if (lab.own?.lane !== k) return;
    cut(lab.own.feature, place[lab.own.feature], lab.own.above);
  });
  lab.on("cutEnd", weigh);
  lab.on("tool round lanes", () => {
    if (lab.tool !== "rule") { asked = ""; for (const lane of lanes()) lane.own.hidden = true; return; }
    if (!lab.own) prepare();
  });
  return { cut: (...given) => { cut(...given); return weigh(); }, commit, ready: () => Boolean(lab.own?.rule), edges: () => edges };
}
