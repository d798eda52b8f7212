// One lane: a run with its picture, its round in words and numbers, its errors and its margins.

import { h, s, atMost, number, percent, round100, settled, announce } from "lab/dom.js";
import { stage } from "lab/stage.js";
import { lineChart } from "lab/chart.js";
import { LETTERS } from "lab/lab.js";
import { methodWords, pictureWords, plainSentence, ruleText, sentence } from "lab/words.js";

const FIGURES = [
  ["error", "error ε", (round) => number(round.error)],
  ["edge", "edge 1 − 2ε", (round) => number(round.edge)],
  ["vote", "vote α", (round) => number(round.vote)],
  ["normaliser", "factor Z", (round) => number(round.normaliser)],
  ["training_error", "training error", (round) => percent(round.training_error)],
  ["bound", "bound ∏Z", (round) => atMost(round.bound)],
  ["least_margin", "least margin", (round) => number(round.least_margin, 3)],
  ["effective_size", "effective size", (round) => number(round.effective_size, 1)],
];

const MARGINS = Float32Array.from({ length: 101 }, (_, k) => -1 + k / 50);

const legend = () => h("ul", { class: "legend" },
  h("li", {}, s("svg", { viewBox: "0 0 16 16", "aria-hidden": true }, s("circle", { cx: 8, cy: 8, r: 6, class: "plus" })), "plus"),
  h("li", {}, s("svg", { viewBox: "0 0 16 16", "aria-hidden": true }, s("path", { d: "M8 1L15 8L8 15L1 8Z", class: "minus" })), "minus"),
  h("li", {}, s("svg", { viewBox: "0 0 16 16", "aria-hidden": true }, s("circle", { cx: 8, cy: 8, r: 6, class: "ring" })), "wrong vote"),
  h("li", {}, "area: weight, line: rule, ground: vote"));

export function laneView(lab, k) {
  let painted = [], dragged = null, erased = new Set();
  const run = () => lab.run(k);
  const t = () => Math.min(lab.state.round, run().done);
  const name = h("h2", {});
  const head = h("div", { class: "lane-head" }, name);
  const words = h("p", { class: "sentence" });
  const values = h("dl", { class: "figures" }, FIGURES.map(([id, label]) => h("div", { dataset: { figure: id } }, h("dt", {}, label), h("dd", {}, "–"))));
  const own = h("div", { class: "own panel", hidden: true });
  const select = () => { if (lab.state.selected !== k) lab.select(k); };

  const picture = stage({
    label: "The points are being loaded.",
    on: {
      hover: (point) => lab.emit("hover", k, point),
      paint: (place, label) => { select(); painted.push([...place, label]); draw(); },
      move: (point, place, end) => {
        select(); dragged = end ? null : { point, place };
        if (end) lab.movePoint(point, place); else draw();
      },
      erase: (point) => { select(); const id = run().data.ids[point]; if (id !== undefined) { erased.add(id); draw(); } },
      done: () => {
        if (painted.length) { const list = painted; painted = []; lab.paintPoints(list); announce(`${list.length} points added.`); }
        if (erased.size) { const list = [...erased]; erased = new Set(); lab.erasePoints(list); announce(`${list.length} points deleted.`); }
      },
      flip: (point) => { select(); lab.flipPoint(point); announce("Label turned."); },
      cut: (place) => { select(); lab.emit("cut", k, place); },
      cutEnd: () => lab.emit("cutEnd", k),
      say: (point) => announce(tell(point).map((line) => line.textContent).join(", ")),
      where: (place) => announce(`at ${place.join(", ")}`),
    },
  });

  const errors = lineChart({
    title: "Error by round", height: 196, wholeX: true, xName: "round", write: round100,
    pick: (value) => lab.goto(value),
  });
  const scale = h("button", { class: "quiet small-button", "aria-pressed": "false", onclick: () => { logged = !logged; scale.setAttribute("aria-pressed", String(logged)); drawErrors(); } }, "log scale");
  let logged = false;
  errors.element.prepend(h("div", { class: "corner" }, scale));
  const margins = lineChart({
    title: "Margins of the points", xName: "margin: share of votes for the label minus share against it",
    write: (value) => percent(value, 0), height: 168,
  });

  const inner = h("div", { class: "inner" }, head,
    h("section", { class: "round-panel", "aria-label": `This round of run ${LETTERS[k]}` }, words, values),
    h("div", { class: "column" }, h("section", { class: "panel stage-panel", "aria-label": `Picture of run ${LETTERS[k]}` }, picture.element, legend())),
    h("div", { class: "column" }, own, errors.element, margins.element));
  const element = h("article", { class: "lane", "aria-label": `Run ${LETTERS[k]}` }, inner);

  function tell(point) {
    const { data } = run(), round = run().at(t()), weights = shownWeights();
    const lines = [`point ${data.ids[point]}, ${data.classes[data.label[point] > 0 ? 1 : 0]}`];
    if (weights) lines.push(`weight ${number(weights[point], 4)}`);
    if (round) lines.push(`margin ${number(round.margins[point], 3)}`);
    if (data.flipped.includes(data.ids[point])) lines.push("its label was turned");
    return lines.map((line) => h("div", {}, line));
  }

  const shownWeights = () => (lab.own?.lane === k && lab.own.weights ? lab.own.weights : run().weights(t()));

  function scene() {
    const { data } = run(), now = t(), round = run().at(now), fine = run().fine.get(now);
    const ruleGrid = run().rules.get(now);
    const surface = round && (fine ?? (round.surface ? { values: round.surface, size: Math.round(Math.sqrt(round.surface.length)) } : null));
    let { x: xs, y: ys, label: labels } = data, weights = shownWeights();
    if (painted.length || dragged || erased.size) {
      xs = [...xs]; ys = [...ys]; labels = [...labels];
      if (dragged) { [xs[dragged.point], ys[dragged.point]] = dragged.place; }
      for (const [x, y, label] of painted) { xs.push(x); ys.push(y); labels.push(label); }
      if (painted.length && weights) weights = [...weights, ...painted.map(() => 1 / data.ids.length)];
      if (erased.size) {
        const keep = xs.map((_, j) => j).filter((j) => j >= data.ids.length || !erased.has(data.ids[j]));
        const pick = (list) => keep.map((j) => list[j]);
        [xs, ys, labels] = [pick(xs), pick(ys), pick(labels)];
        weights = weights && pick(weights);
      }
    }
    const steady = xs === data.x;
    const owned = lab.own?.lane === k && lab.own.rule;
    return {
      box: data.box, names: data.names, xs, ys, labels, weights: weights?.length === xs.length ? weights : null,
      wrong: steady && round ? data.wrongAt?.[now] ?? wrongOf(data, round, now) : null,
      grid: surface ? { smooth: round.shape?.kind === "halfspace" || round.shape?.kind === "other", values: surface.values, columns: surface.size, rows: surface.size, box: surface.box ?? data.box } : null,
      always: round?.shape?.threshold === null && data.plane && !owned ? (ruleText(run(), round).endsWith("+") ? 1 : -1) : 0,
      cut: round?.shape?.kind === "stump" && round.shape.threshold !== null && data.plane && !owned ? { feature: round.shape.feature, threshold: round.shape.threshold, sign: round.shape.above } : null,
      own: owned ? { feature: lab.own.rule.feature, threshold: lab.own.rule.threshold, sign: lab.own.rule.above } : null,
      ruleGrid: ruleGrid && !owned ? { smooth: round?.shape?.kind === "halfspace", values: ruleGrid.values, columns: ruleGrid.size, rows: ruleGrid.size, box: ruleGrid.box } : null,
      marked: steady ? (lab.marked ?? []).map((id) => data.place.get(id)).filter((j) => j !== undefined) : [],
      tell, ranked: () => (weights ? [...weights.keys()].sort((a, b) => weights[b] - weights[a]).slice(0, 50) : []),
    };
  }

  function wrongOf(data, round, now) {
    data.wrongAt ??= {};
    const margins_ = round.margins;
    return (data.wrongAt[`${run().key}${now}`] ??= Uint8Array.from(margins_, (value) => (value <= 0 ? 1 : 0)));
  }

  const refine = settled(async () => {
    const mine = run();
    if (!mine) return; // the lane was closed meanwhile
    const now = t();
    picture.canvas.setAttribute("aria-label", pictureWords(lab, mine, now));
    errors.svg.setAttribute("aria-label", errorWords(mine.at(now)));
    if (!now || !mine.data?.plane || !mine.at(now)) return;
    const kind = mine.at(now).shape?.kind;
    const wanted = [mine.surface(now, "vote")];
    if (kind && kind !== "stump") wanted.push(mine.surface(now, "rule"));
    const found = await Promise.all(wanted);
    if (found.some(Boolean) && mine === run() && now === t()) picture.show(scene());
  }, 160);

  /** Whether rounds up to the shown one are still loading; the last picture stays meanwhile. */
  const settling = () => picture.now() && !run().error && !run().ended && run().done < Math.min(lab.state.round, lab.state.rounds);

  function draw(given = {}) {
    if (!run()?.data || (settling() && !painted.length && !dragged && !erased.size)) return;
    picture.show(scene(), { smooth: matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : given.smooth ?? 0 });
  }

  function drawHead() {
    const { main, minor } = methodWords(lab, k), lane = lab.state.lanes[k], many = lab.state.lanes.length > 1;
    name.replaceChildren(many ? h("b", { class: "letter" }, LETTERS[k]) : "", main, h("small", {}, minor + (lane.at ? `, changed after round ${lane.at}` : "")));
    head.replaceChildren(name, h("div", { class: "row" },
      many ? h("button", { "aria-pressed": String(lab.state.selected === k), onclick: () => lab.select(k) }, lab.state.selected === k ? "Selected" : "Select") : null,
      h("button", { class: "fork", disabled: lab.state.lanes.length >= LETTERS.length, title: "Add a copy of this run that you can change after this round", onclick: () => lab.fork(k) }, "Fork here"),
      many ? h("button", { class: "quiet icon close", "aria-label": `Close run ${LETTERS[k]}`, onclick: () => lab.remove(k) }, "×") : null));
    element.classList.toggle("selected", many && lab.state.selected === k);
  }

  function drawRound() {
    if (settling()) return;
    const now = t(), round = run().at(now);
    words.replaceChildren(...sentence(lab, run(), now).map(([kind, text]) => (kind ? h(kind, {}, text) : text)));
    if (run().stopped && now === run().done && now > 0) words.append(h("span", { class: "stopped" }, ` The run stops here: ${run().stopped.replace(/\.$/, "")}.`));
    words.classList.toggle("problem", Boolean(run().error));
    FIGURES.forEach(([, , write], j) => { values.children[j].lastChild.textContent = round ? write(round) : "–"; });
    values.hidden = Boolean(run().error) && !round;
    errors.cursor(now || null);
    drawMargins(round, now);
  }

  const errorWords = (round) => (round
    ? `Error by round. At round ${round.number} the training error is ${percent(round.training_error)}, its bound ${atMost(round.bound)}`
      + (round.test ? `, the test error ${percent(round.test.error)} between ${percent(round.test.lower)} and ${atMost(round.test.upper)} with 95 % confidence.` : ".")
    : "Error by round: no rounds yet.");

  function drawErrors() {
    const { rounds } = run(), xs = rounds.map((round) => round.number);
    const pick = (field) => rounds.map((round) => round[field]);
    const tested = rounds.some((round) => round.test), limited = rounds.some((round) => round.bound !== null && round.bound !== undefined);
    const series = [{ name: "training", tone: "blue", x: xs, y: pick("training_error") }];
    if (limited) series.push({ name: "bound ∏Z", tone: "blue", dash: "dash", x: xs, y: pick("bound") }, ...(rounds.some((round) => round.bound_edges !== null) ? [{ name: "exp(−2Σγ²)", tone: "soft", dash: "dots", x: xs, y: pick("bound_edges") }] : []));
    if (tested) {
      const test = (field) => rounds.map((round) => round.test?.[field] ?? null);
      series.push({ name: "test, 95 %", tone: "gold", x: xs, y: test("error"), low: test("lower"), high: test("upper") });
    }
    const most = Math.max(0.02, ...series.flatMap((one) => (one.high ?? one.y)).filter((value) => value !== null && value <= 1), limited ? 0.5 : 0);
    const least = Math.min(0.01, ...series.flatMap((one) => one.y).filter((value) => value > 0));
    const yRange = logged ? [Math.max(1e-6, 10 ** Math.floor(Math.log10(least))), 1] : [0, Math.min(1, Math.ceil(most * 10.2) / 10)];
    errors.draw({ series, xRange: [Math.min(1, 0), Math.max(2, lab.last)], yRange, log: logged });
    errors.cursor(t() || null);
  }

  function drawMargins(round, now) {
    const first = run().at(Math.min(5, run().done));
    const series = [];
    if (first && now > 5) series.push({ name: "after round 5", tone: "soft", x: MARGINS, y: first.margin_cdf, step: true, noDot: true, thin: true });
    if (round) series.push({ name: `after round ${round.number}`, tone: "blue", x: MARGINS, y: round.margin_cdf, step: true, noDot: true });
    const marks = [{ x: 0 }];
    if (round && round.least_margin > 0.02) marks.push({ x: round.least_margin, tone: "blue", text: `least ${number(round.least_margin, 3)}`, left: true });
    margins.draw({ series, xRange: [-1, 1], yRange: [0, 1], noDots: true, marks,
      text: round ? `Share of points by margin after round ${round.number}. The least margin is ${number(round.least_margin, 3)}; ${percent(round.training_error)} of the points have a margin of 0 or less.` : "Margins: no rounds yet." });
  }

  return {
    element, picture, own, errors, margins,
    lanes() { drawHead(); drawRound(); drawErrors(); draw(); refine(); },
    round(given) { drawRound(); draw(given); refine(); },
    data() { drawHead(); drawRound(); draw(); },
    rounds() { drawRound(); drawErrors(); draw(); refine(); },
    hover: (point) => picture.hover(point),
    recolour: () => picture.recolour(),
    words: () => plainSentence(lab, run(), t()),
  };
}
