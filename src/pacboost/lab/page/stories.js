// Nine guided stories. A step sets up the page, explains it, and may ask for an action.
// Numbers in the texts are read from the run when they are shown.

import { atMost, number, percent, whole } from "lab/dom.js";
import { runSpec } from "lab/lab.js";
import { ruleText } from "lab/words.js";

const lane = (given, at = 0) => ({ run: runSpec(given), at });
const boost = (name, data, learner = { name: "stump", parameters: {} }, parameters = {}) => lane({ data, learner, booster: { name, parameters } });
const one = (data, more = {}) => ({ lanes: [lane({ data })], ...more });
const tree = (leaves) => ({ name: "tree", parameters: { max_leaves: leaves, max_depth: 6 } });
const round = (lab, k = lab.state.selected) => { const run = lab.run(k); return run?.at(Math.min(lab.state.round, run.done)) ?? null; };
const at = (lab, t, k = 0) => lab.run(k)?.rounds[t - 1] ?? null;
const say = (value, write = percent) => (value === null || value === undefined ? "…" : write(value));
const steps = (wanted, text = "Take a step") => ({ text, done: (lab) => lab.state.round >= wanted && lab.run().done >= Math.min(wanted, lab.last), help: (lab) => lab.step(wanted - lab.state.round), label: "Do it for me" });
const first = (run) => run.rounds.find((item) => item.training_error === 0)?.number ?? null;

const toy = {
  id: "toy", title: "The toy example by hand", minutes: 2, about: "What is a weak learner? Be one yourself, on ten points.",
  steps: [
    { do: (lab) => lab.take({ ...one({ kind: "lecture" }), rounds: 3, round: 0 }),
      text: () => ["Ten points: five plus, five minus. Can one straight cut, upright or level, separate them? It cannot.",
        "A weak learner does not have to. It gives one simple rule, and it is good enough if it is a little better than guessing."] },
    { do: (lab) => { lab.goto(0); lab.setTool("rule"); },
      text: (lab) => ["Now be the weak learner. Drag the line, turn it, or swap its sides. The panel “Your rule” says on how much of the weight it is wrong.",
        lab.own?.rule && lab.state.round === 0 ? `Right now that is ${say(lab.own.error)}. Guessing would be wrong on 50 %.` : ""],
      task: { text: "Find a cut that is wrong on less than half, and press “Make it the rule”", done: (lab) => lab.state.lanes[0].run.rules.length > 0 && lab.state.round >= 1, help: (lab) => lab.ownBest(), label: "Do it for me" } },
    { do: (lab) => { lab.setTool("look"); if (lab.state.round < 1) lab.goto(1); },
      text: (lab) => { const now = at(lab, 1); return [`The rule of round 1 is wrong on ${say(now?.error)} of the weight, so it gets a vote of ${say(now?.vote, (value) => number(value, 2))}.`,
        "Now the points that it got wrong become heavier, and the others lighter, until the rule would be wrong on exactly half: the next rule has to look elsewhere."]; },
      task: steps(2, "Take a step and watch the points grow") },
    { do: (lab) => { if (lab.state.round < 2) lab.goto(2); },
      text: (lab) => [`The second rule, ${at(lab, 2) ? ruleText(lab.run(), at(lab, 2)) : "…"}, was chosen for the heavy points. It is wrong on ${say(at(lab, 2)?.error)} of the new weight.`],
      task: steps(3) },
    { do: (lab) => { if (lab.state.round < 3) lab.goto(3); },
      text: (lab) => [`Three rules, each of them poor. Together they vote, each with its own weight, and the vote is ${at(lab, 3)?.training_error === 0 ? "right on all points" : `wrong on ${say(at(lab, 3)?.training_error)} of the points`}. The ground shows who wins where.`,
        "This is boosting: from rules that are a little better than guessing, a vote whose training error is as small as you want. How good it is on new points is another question: see the stories on margins and on certificates."] },
  ],
};

const RINGS = { kind: "rings", n: 200, noise: 0, seed: 1 };
const exponential = {
  id: "exponential", title: "Why errors fall exponentially", minutes: 2, about: "Every rule with an edge multiplies the bound by a factor below one.",
  steps: [
    { do: (lab) => lab.take({ ...one(RINGS), rounds: 60, round: 0 }),
      text: () => ["Two rings: no single cut comes near to this shape. Watch the chart “Error by round” while stumps vote."],
      task: { text: "Play to round 20, or step there", done: (lab) => lab.state.round >= 20, help: async (lab) => { await lab.run().load(60); lab.goto(20); }, label: "Go there" } },
    { do: async (lab) => { await lab.run().load(20); if (lab.state.round < 20) lab.goto(20); },
      text: (lab) => [`The blue line is the share of points that the vote gets wrong, now ${say(round(lab)?.training_error)}. The dashed line above it is the product of the factors Z of all rounds, now ${say(round(lab)?.bound, atMost)}.`,
        "The training error can never be above that product. A rule with an edge has Z below 1, so every round pushes the lid down by a factor: the lid falls exponentially."] },
    { do: (lab) => { lab.goto(20); lab.fork(0); lab.setMethod("learner", { name: "weak_stump", parameters: { edge: 0.05 } }); lab.setTab("compare"); },
      text: (lab) => [`In run B the learner is made worse after round ${lab.state.lanes[1]?.at ?? 20}: of all stumps it gives the worst that still has an edge of 0.05.`,
        "Its lid falls, too, only more slowly. Boosting does not need a good learner. It needs one that always has some edge."],
      task: { text: "Go to round 60 and compare", done: (lab) => lab.state.round >= 55, help: async (lab) => { await Promise.all(lab.runs().map((run) => run.load(60))); lab.goto(60); }, label: "Go there" } },
    { do: async (lab) => { await Promise.all(lab.runs().map((run) => run.load(60))); if (lab.state.round < 55) lab.goto(60); },
      text: (lab) => [`After round ${lab.state.round}, A is wrong on ${say(round(lab, 0)?.training_error)} of the points, and B on ${say(round(lab, 1)?.training_error)}. In one line: training error ≤ ∏Z ≤ exp(−2Σγ²), where γ is half the edge.`] },
  ],
};

const SPIRALS = { kind: "spirals", n: 250, noise: 0, seed: 2 };
const margins = {
  id: "margins", title: "Margins: why it goes on improving", minutes: 2, about: "The training error is 0, and the vote still improves.",
  steps: [
    { do: (lab) => lab.take({ lanes: [boost("adaboost", SPIRALS, tree(4))], rounds: 150, round: 5 }),
      text: () => ["Small trees vote on two spirals. The margin of a point is the share of votes for its class minus the share against it: 1 if all agree on the right answer, below 0 if the vote is wrong.",
        "The chart “Margins of the points” shows how many points have at most which margin."],
      task: { text: "Go on until the training error is 0", done: (lab) => round(lab)?.training_error === 0, help: async (lab) => { await lab.run().load(150); lab.goto(first(lab.run()) ?? 150); }, label: "Go there" } },
    { do: async (lab) => { await lab.run().load(150); if (round(lab)?.training_error !== 0) lab.goto(first(lab.run()) ?? 150); },
      text: (lab) => { const zero = at(lab, first(lab.run())); return [`No point is wrong any more after round ${zero?.number ?? "…"}. A method that only counts mistakes would stop here. The least margin is ${say(zero?.least_margin, (value) => number(value, 3))}: some points are right only just. On fresh points the vote is wrong on ${say(zero?.test?.error)}.`]; },
      task: { text: "Go to round 150 and watch the margins move right", done: (lab) => lab.state.round >= 140, help: async (lab) => { await lab.run().load(150); lab.goto(150); }, label: "Go there" } },
    { do: async (lab) => { await lab.run().load(150); if (lab.state.round < 140) lab.goto(150); },
      text: (lab) => [`The training error has been 0 since round ${first(lab.run()) ?? "…"}. The least margin is now ${say(round(lab)?.least_margin, (value) => number(value, 3))}, and the error on fresh points is ${say(round(lab)?.test?.error)}. It was ${say(at(lab, first(lab.run()))?.test?.error)} back then.`,
        "Larger margins mean more agreement than needed, and a theorem turns that into a bound that does not grow with the number of rounds.",
        "These points were chosen to show it. Margins always grow here; whether the error on fresh points falls with them depends on the data. Try other seeds."] },
    { do: (lab) => { lab.setTab("certificates"); lab.show("more"); },
      text: () => ["Below are the certificates. Compare the one by test rows with those that use the training rows alone: they have to pay for everything that the trees could have learned, and on so few points they say little or nothing."] },
  ],
};

const NOISY = { kind: "gaussians", n: 200, noise: 0.15, spread: 0.45, seed: 3 };
const HARD = { kind: "moons", n: 200, noise: 0.2, seed: 5 };
const noise = {
  id: "noise", title: "Noise and outliers", minutes: 2, about: "AdaBoost chases wrong labels. BrownBoost gives up on them.",
  steps: [
    { do: (lab) => lab.take({ lanes: [boost("adaboost", NOISY)], rounds: 80, round: 60, tab: "weights" }),
      text: (lab) => ["Two clouds, and 15 % of the labels are turned. AdaBoost makes points heavier for as long as they are wrong, so wrong labels become the heaviest of all.",
        `After round ${lab.state.round} the weights of 200 points are worth ${say(round(lab)?.effective_size, (value) => number(value, 0))} points of equal weight.`] },
    { do: (lab) => { lab.setTab("weights"); lab.show("more"); lab.mark((round(lab)?.heaviest ?? []).map(([id]) => id)); },
      text: () => ["The table below lists the heaviest points, ringed in the picture. Most of them say “label was turned”: heavy points are suspects.", "Turn one back and see how the run changes."],
      task: { text: "Press “Turn its label” for one of the heaviest points", done: (lab) => (lab.state.lanes[0].run.data.edits?.flipped ?? []).length > 0, help: (lab) => { const run = lab.run(), id = round(lab).heaviest[0][0]; lab.flipPoint(run.data.place.get(id)); }, label: "Do it for me" } },
    { do: (lab) => { lab.mark([]); lab.take({ lanes: [boost("adaboost", HARD, tree(12)), boost("brown", HARD, tree(12), { epsilon: 0.25 })], rounds: 40, round: 40, tab: "compare", selected: 1 }); },
      text: (lab) => ["Now trees on two moons, with 20 % of the labels turned. AdaBoost, in run A, follows every wrong label until no training point is wrong. BrownBoost, in run B, may give up a quarter of the points: it lets go of those that stay wrong for long, and stops in time.",
        `On fresh points A is wrong on ${say(round(lab, 0)?.test?.error)}, and B on ${say(round(lab, 1)?.test?.error)}. The fresh labels are noisy, too, so nobody can come much below 20 %.`,
        "These points were chosen to show it: with other seeds the two are often level. Try some."] },
  ],
};

const filtering = {
  id: "filtering", title: "Boosting by filtering", minutes: 1, about: "An endless stream, and a filter that keeps the hard examples.",
  steps: [
    { do: (lab) => { lab.take({ ...one({ kind: "rings", n: 200, seed: 1 }), rounds: 30, round: 0, tab: "filtering" }); lab.show("more"); },
      text: () => ["So far all points lay on the table. Now they come one by one from a stream, more than any memory holds. The filter keeps an example with high probability where the vote is wrong, and lets it go where the vote is sure."],
      task: { text: "Press “Start the stream” below", done: (lab) => Boolean(lab.lastFiltering), help: (lab) => lab.panel("filtering").start(), label: "Do it for me" } },
    { do: (lab) => { lab.setTab("filtering"); lab.show("more"); },
      text: (lab) => { const found = lab.lastFiltering, refills = found?.refills ?? []; return [`The first refill kept ${say(refills[0]?.acceptance)} of what it saw, the last ${say(refills.at(-1)?.acceptance)}. The better the vote, the longer the wait for a hard example.`,
        "So a low acceptance is good news: the acceptance is tied to the error. When it is small enough, the error is small."]; } },
    { do: (lab) => { lab.setTab("filtering"); lab.show("more"); },
      text: (lab) => { const found = lab.lastFiltering; return [`In all ${say(found?.draws_total, whole)} examples were drawn, and the vote is wrong on ${say(found?.truth?.error)} of fresh ones. The certificate below was computed from examples that no rule was learned from.`,
        "Promise an edge with the slider and start again: then the theorem says how many examples suffice for every stream, and the chart compares. This stream is kinder than the worst."]; } },
  ],
};

const measureStep = (kind, filter, wanted) => ({ text: wanted, done: (lab) => Boolean(lab.found[`${kind} ${filter}`]), label: "Do it for me",
  help: (lab) => lab.panel("instruments").get("measure").start({ kind, filter }) });
const showMeasure = (lab) => { lab.setTab("instruments"); lab.panel("instruments").open("measure"); lab.show("more"); };
const elevator = {
  id: "elevator", title: "The measure and the elevator", minutes: 2, about: "Lecture 003 in memory: a ramp, floors, and a lemma that ends the run.",
  steps: [
    { do: (lab) => { lab.take({ ...one({ kind: "rings", n: 200, seed: 1 }), rounds: 5, round: 0 }); showMeasure(lab); },
      text: () => ["The first idea that everybody has: keep only the examples that the vote gets wrong, and learn the next rule from them."],
      task: measureStep("rings", "naive", "Press “Try the naive filter”") },
    { do: showMeasure,
      text: (lab) => [lab.found["rings naive"]?.sentence ?? "…", "So the filter must go on showing some of what is right already. The question is how much."],
      task: measureStep("rings", "ramp", "Press “Compute” for the ramp of the lecture") },
    { do: showMeasure,
      text: (lab) => { const found = lab.found["rings ramp"]; return [`${found?.sentence ?? "…"} An example on floor N has been right N times more often than wrong, and the ramp lets go of it step by step.`,
        `The lemma: no ride collects more than the dashed line, ${say(found?.bound.at(-1), (value) => number(value, 1))} in the end; the largest here is ${say(found?.largest.at(-1), (value) => number(value, 1))}. But the mean has to grow by εγ in every round, so after ${say(found?.most_rounds, whole)} rounds at most µ is below ε, and the error is at most µ.`]; },
      task: measureStep("xor", "ramp", "Choose the world “XOR”, and compute") },
    { do: showMeasure,
      text: (lab) => [lab.found["xor ramp"]?.sentence ?? "…", "On XOR no stump is better than guessing, so stumps are no weak learner for it. No filter can mend that: the lecture asks for an edge under every distribution."] },
  ],
};

const STRIPES = { kind: "stripes", n: 200, noise: 0, seed: 4 };
const bagging = {
  id: "bagging", title: "Bagging against boosting", minutes: 1, about: "Averaging calms unstable rules. It cannot make simple rules clever.",
  steps: [
    { do: (lab) => lab.take({ lanes: [lane({ data: STRIPES, method: "bagging" }), lane({ data: STRIPES })], rounds: 40, round: 30, tab: "compare" }),
      text: (lab) => ["Run A is bagging: each stump is learned from a random draw of the points, and all vote alike. Run B is boosting.",
        `On stripes every stump is nearly the same poor rule, so their average is poor, too: after ${lab.state.round} rules A is wrong on ${say(round(lab, 0)?.training_error)} of the points, B on ${say(round(lab, 1)?.training_error)}. Boosting makes each rule look where the others failed.`] },
    { do: (lab) => lab.take({ lanes: [lane({ data: NOISY, method: "bagging", learner: tree(31) }), lane({ data: NOISY, learner: tree(31) })], rounds: 40, round: 30, tab: "compare" }),
      text: (lab) => ["Now large trees on clouds with wrong labels. A single tree follows every label. Averaging many of them calms this down; boosting follows the labels even harder.",
        `On fresh points A, bagging, is wrong on ${say(round(lab, 0)?.test?.error)}, and B, boosting, on ${say(round(lab, 1)?.test?.error)}. Rules that are too simple want boosting, rules that are too wild want bagging.`] },
  ],
};

const examples = {
  id: "examples", title: "How many examples do I need?", minutes: 2, about: "From a wish to a number, and from the number to an experiment.",
  steps: [
    { do: (lab) => { lab.take({ ...one({ kind: "rectangle", n: 76, seed: 0 }), rounds: 20, round: 0, tab: "planner" }); lab.panel("planner").ask("rectangle", { epsilon: 0.1, delta: 0.05 }); lab.show("more"); },
      text: () => ["A box is hidden in the plane. From examples inside and outside you guess the tightest box around the plus points. How many examples until the guess is at most ε wrong, with probability 1 − δ?",
        "Move the sliders of ε and δ. Half the ε costs twice the examples, 153 in place of 76. A hundredth of the δ costs less than that: 134."] },
    { do: (lab) => { lab.setTab("instruments"); lab.panel("instruments").open("pac"); lab.show("more"); },
      text: () => ["A theorem can be put to the test. Draw a sample, learn a box, measure its true error, and do it two hundred times."],
      task: { text: "Press “Compute”", done: (lab) => Boolean(lab.found.pac), help: (lab) => lab.panel("instruments").get("pac").start(), label: "Do it for me" } },
    { do: (lab) => { lab.setTab("instruments"); lab.panel("instruments").open("pac"); lab.show("more"); },
      text: (lab) => { const found = lab.found.pac; return [`${say(found?.failures, whole)} of ${say(found?.trials, whole)} boxes were too wrong. The sharp bound allows ${say(found?.bounds?.[0]?.value, atMost)} of them.`, "PAC means just this: probably (1 − δ) approximately (ε) correct."]; } },
  ],
};

const OVERFIT = { kind: "gaussians", n: 120, noise: 0.2, seed: 5 };
const certificate = {
  id: "certificate", title: "Break the certificate", minutes: 2, about: "What happens when you test on training rows.",
  steps: [
    { do: (lab) => { lab.take({ lanes: [boost("adaboost", OVERFIT, tree(16))], rounds: 40, round: 40, tab: "certificates" }); },
      text: (lab) => [`Large trees on two clouds with 20 % wrong labels. After ${lab.state.round} rounds the vote is wrong on ${say(round(lab)?.training_error)} of the training points. Is it a good classifier?`] },
    { do: async (lab) => { await lab.run().load(40); lab.goto(40); lab.setTab("certificates"); lab.show("more"); },
      text: (lab) => { const found = lab.lastCertificates, own = found?.certificates.find((item) => item.id === "training_rows"); return [`If the training rows were used as test rows, the formula would say: at most ${say(own?.would_say, atMost)} wrong. The truth, measured on fresh points, is ${say(found?.truth?.error)}.`,
        "The formula is right, and its assumption is broken: the rows have to be independent of the vote. pacboost keeps a sketch of its training rows and refuses."]; } },
    { do: (lab) => { lab.setTab("certificates"); lab.show("more"); },
      text: (lab) => { const found = lab.lastCertificates, held = found?.certificates.find((item) => item.id === "holdout"); return [`Fresh rows keep the promise: the certificate by held-out rows says at most ${say(held?.value, atMost)}, and the truth of ${say(found?.truth?.error)} lies below it.`,
        "A certificate is as good as its assumptions, so every card lists them."]; } },
  ],
};

export const STORIES = [toy, exponential, margins, noise, filtering, elevator, bagging, examples, certificate];
