// Sentences about rounds, for the page and for screen readers. All numbers come from the record of the run.

import { number, percent, whole } from "lab/dom.js";

const plural = (count, one, many = `${one}s`) => `${whole(count)} ${count === 1 ? one : many}`;

/** The number of points in a share of n. */
const count = (share, n) => Math.round(share * n);

/** A rule in short: stumps with two digits after the point, other rules in the engine's words. */
export function ruleText(run, round) {
  if (round.shape?.kind !== "stump" || !run.data?.plane) return round.rule.replace(/\bx(\d+)\b/g, (word, j) => run.data?.names[j] ?? word);
  const { feature, threshold, above } = round.shape;
  if (threshold === null) return `always ${round.rule.includes("-1") || round.rule.includes("−") ? "−" : "+"}`;
  const name = run.data.names[feature] ?? `x${feature}`;
  return `${name} > ${number(threshold, 2).replace(/\.?0+$/, "")} → ${above > 0 ? "+, else −" : "−, else +"}`;
}

function ruleWords(run, round) {
  if (round.shape?.kind === "tree") return `a tree of ${plural(round.shape.leaves, "leaf", "leaves")}`;
  if (round.shape?.kind === "halfspace") return "a straight line";
  if (round.shape?.kind === "other") return `a rule of the learner (${round.rule})`;
  const text = ruleText(run, round);
  const shown = text.startsWith("always") ? ` “${text}”` : text.length < 60 ? ` ${text}` : "";
  return `${round.own ? "your rule" : "the rule"}${shown}`;
}

/** What happened in a round, as [kind, text] parts: "b" is set off. */
export function sentence(lab, run, t) {
  if (run.error) return [["", run.error.message]];
  const n = run.data?.ids.length ?? 0;
  if (t === 0 || !run.done) {
    const learner = { stump: ", here one straight cut,", weak_stump: ", here one straight cut,", tree: ", here a small tree,", halfspace: ", here a straight line," }[run.spec.learner.name] ?? "";
    return [["", `${plural(n, "point")}, all of equal weight. A `], ["b", "weak learner"],
      ["", ` gives one simple rule per round${learner} and only has to be a little better than chance. Boosting asks it again and again, each time with more weight on the points that were wrong. Take a step.`]];
  }
  const round = run.at(t);
  if (!round) return [["", "Waiting for the engine …"]];
  if (run.spec.method === "bagging") {
    return [["", `Member ${round.number}: ${ruleWords(run, round)} was learned from a random draw of the points. `],
      ["", `All members vote with the same weight, and the vote of ${plural(round.number, "rule")} is `],
      ["b", wrongWords(round, n)], ["", "."]];
  }
  const parts = [["", `Round ${round.number}: ${ruleWords(run, round)} is wrong on `], ["b", `${percent(round.error)} of the weight`]];
  if (round.edge !== null) parts.push(["", `: an edge of ${number(round.edge, 3)} over guessing`]);
  if (round.vote !== null) parts.push(["", `, worth a vote of ${number(round.vote, 3)}. `]);
  if (round.error_after !== null && round.error_after !== undefined && Math.abs(round.error_after - 0.5) < 1e-6) parts.push(["", `Its mistakes are half of all weight in round ${round.number + 1}. `]);
  parts.push(["", `The vote of ${plural(round.number, "rule")} is `], ["b", wrongWords(round, n)], ["", "."]);
  return parts;
}

function wrongWords(round, n) {
  const wrong = count(round.training_error, n);
  return wrong === 0 ? `right on all ${whole(n)} points` : `wrong on ${whole(wrong)} of ${whole(n)} points`;
}

export const plainSentence = (lab, run, t) => sentence(lab, run, t).map(([, text]) => text).join("");

/** A description of the picture for screen readers. */
export function pictureWords(lab, run, t) {
  if (!run.data) return "The points are being loaded.";
  const plus = run.data.label.filter((one) => one > 0).length, n = run.data.ids.length;
  const heavy = (t > 0 ? run.at(t)?.heaviest : run.start?.next?.heaviest) ?? [];
  const told = heavy.slice(0, 3).map(([id, weight]) => {
    const k = run.data.place.get(id);
    return k === undefined ? "" : `point ${id} at ${number(run.data.x[k], 2)}, ${number(run.data.y[k], 2)} with weight ${number(weight, 3)}`;
  }).filter(Boolean);
  return `Picture of ${whole(n)} points in ${run.data.names[0]} and ${run.data.names[1]}: ${whole(plus)} plus as blue discs, ${whole(n - plus)} minus as red diamonds. `
    + `Areas show weights. ${plainSentence(lab, run, t)} ${told.length && t > 0 ? `Heaviest: ${told.join("; ")}.` : ""}`;
}

/** The name of a lane's method. */
export function methodWords(lab, k) {
  const lane = lab.state.lanes[k], { run } = lane;
  const title = (list, name) => lab.catalog[list].find((one) => one.name === name)?.title ?? name;
  const learner = title("learners", lab.current("learner", k).name).toLowerCase();
  if (run.method === "bagging") return { main: "Bagging", minor: `over ${learner}` };
  return { main: title("boosters", lab.current("booster", k).name), minor: `over ${learner}` };
}
