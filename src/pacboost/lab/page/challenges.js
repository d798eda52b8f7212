// Challenges that check themselves on the record of the run.

import { number, percent } from "lab/dom.js";
import { runSpec } from "lab/lab.js";

const start = (data, more = {}) => (lab) => lab.take({ lanes: [{ run: runSpec({ data }), at: 0 }], rounds: 40, round: 0, ...more });
const stumps = (run) => run.spec.method === "boost" && run.spec.learner.name === "stump" && !run.spec.changes.length;

export const CHALLENGES = [
  {
    id: "three", title: "Three stumps suffice", about: "Paint a data set of 12 points or more, at least 4 of each class, that AdaBoost over stumps gets wrong after two rounds and right after three.",
    begin: (lab) => { lab.take({ lanes: [{ run: runSpec({ data: { kind: "points" } }), at: 0 }], rounds: 10, round: 0 }); lab.setTool("plus"); },
    check(lab) {
      const run = lab.run(), rounds = run?.rounds ?? [];
      if (!run?.data || !stumps(run) || run.spec.rules.length || run.spec.data.kind === "lecture") return [false, ""];
      const n = run.data.ids.length, plus = run.data.label.filter((one) => one > 0).length;
      if (n < 12 || plus < 4 || n - plus < 4) return [false, `${n} points, ${plus} of them plus`];
      const errors = rounds.slice(0, 3).map((one) => one.training_error);
      return [errors.length === 3 && errors[0] > 0 && errors[1] > 0 && errors[2] === 0, `training errors ${errors.map((one) => percent(one)).join(", ")}`];
    },
  },
  {
    id: "overfit", title: "Make AdaBoost overfit", about: "Find data and a learner for which the test error of AdaBoost rises by 3 percentage points above its best, while the training error falls.",
    begin: start({ kind: "gaussians", n: 600, noise: 0 }, { rounds: 80 }),
    check(lab) {
      const run = lab.run(), rounds = run?.rounds ?? [];
      if (run?.spec.booster.name !== "adaboost" || run.spec.method !== "boost") return [false, ""];
      let best = null;
      for (const one of rounds) {
        if (!one.test) continue;
        if (!best || one.test.error < best.test.error) best = one;
        else if (one.test.error >= best.test.error + 0.03 && one.training_error < best.training_error) return [true, `from ${percent(best.test.error)} in round ${best.number} to ${percent(one.test.error)} in round ${one.number}`];
      }
      return [false, best ? `best test error so far ${percent(best.test.error)}` : ""];
    },
  },
  {
    id: "consistent", title: "Consistent and wrong", about: "Six examples of a hidden box, three plus and three minus. Find a draw and a vote of stumps without a mistake on them that is wrong on 40 % of fresh points or more.",
    begin: start({ kind: "rectangle", n: 6, noise: 0, seed: 30 }, { rounds: 10 }),
    check(lab) {
      const run = lab.run(), labels = run?.data?.label ?? [];
      if (run?.spec.data.kind !== "rectangle" || run.spec.data.edits || !stumps(run) || labels.length !== 6 || labels.filter((one) => one > 0).length !== 3) return [false, labels.length ? "six points, three of them plus, as drawn" : ""];
      const worst = Math.max(0, ...run.rounds.filter((one) => one.training_error === 0).map((one) => one.test?.error ?? 0));
      return [worst >= 0.4, `no mistake on the six, ${percent(worst)} wrong on fresh points`];
    },
  },
  {
    id: "learner", title: "As good as the engine", about: "Be the weak learner for three rounds in a row, each time with at least 90 % of the best edge, without asking for the best cut.",
    begin: (lab) => { lab.take({ lanes: [{ run: runSpec({ data: { kind: "xor", n: 60, seed: 2, noise: 0 } }), at: 0 }], rounds: 10, round: 0 }); lab.setTool("rule"); },
    check(lab) {
      const series = lab.ownRules ?? [];
      const good = series.filter((one) => !one.helped && one.edge >= 0.9 * one.best).length;
      return [good >= 3, series.length ? `${good} of 3; the last edge was ${number(series.at(-1).edge, 3)} of ${number(series.at(-1).best, 3)}` : ""];
    },
  },
  {
    id: "detective", title: "Find three wrong labels", about: "In clouds with turned labels, turn three labels back that noise had turned, and none that it had not.",
    begin: start({ kind: "gaussians", n: 120, noise: 0.1, seed: 7 }, { rounds: 60, round: 40, tab: "weights" }),
    check(lab) {
      const list = lab.flips ?? [];
      const hits = list.filter((one) => one.noisy).length, misses = list.length - hits;
      return [hits >= 3 && misses === 0, list.length ? `${hits} right, ${misses} not; draw again to start over` : ""];
    },
  },
  {
    id: "margin", title: "A quarter for everybody", about: "Reach a least margin of 0.25 or more on at least 40 points, with at least 10 of each class, using stumps.",
    begin: start({ kind: "gaussians", n: 40, noise: 0, seed: 1 }),
    check(lab) {
      const run = lab.run(), n = run?.data?.ids.length ?? 0, plus = run?.data?.label.filter((one) => one > 0).length ?? 0;
      if (n < 40 || plus < 10 || n - plus < 10 || run.spec.learner.name !== "stump" || run.done < 2) return [false, ""];
      const most = Math.max(...run.rounds.slice(1).map((one) => one.least_margin ?? -1));
      return [most >= 0.25, `largest least margin ${number(most, 3)}`];
    },
  },
  {
    id: "certified", title: "Certified below 5 %", about: "With 100 points or fewer, reach a certificate for new examples of 5 % or less.",
    begin: start({ kind: "moons", n: 100, noise: 0, seed: 1 }, { tab: "certificates", rounds: 40 }),
    check(lab) {
      const run = lab.run(), found = lab.lastCertificates;
      if (!run?.data || !found || run.data.ids.length > 100) return [false, ""];
      const values = found.certificates.filter((one) => one.holds_for === "new examples" && !one.refused && one.value !== null).map((one) => one.value);
      return [values.some((value) => value <= 0.05), values.length ? `best so far ${percent(Math.min(...values))}` : ""];
    },
  },
];
