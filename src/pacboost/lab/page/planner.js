// How many examples do I need? Sliders, a curve, and where this run stands on it.

import { h, atMost, menu, slider, number, percent, whole, settled } from "lab/dom.js";
import { lineChart } from "lab/chart.js";
import { ask } from "lab/api.js";

export function plannerPanel(lab) {
  const { plans } = lab.catalog;
  let now = plans[0]?.name, values = {}, along = null;
  const controls = h("div", { class: "controls" });
  const words = h("p", { class: "statement plan-answer" });
  const facts = h("dl", { class: "facts" });
  const problem = h("p", { class: "problem", hidden: true });
  const chart = lineChart({ title: "How the number grows", xName: "", height: 260, write: (value) => whole(value) });
  const element = h("div", { class: "two" },
    h("div", { class: "lead" }, h("h2", {}, "How many do I need?"), h("p", {}, "Each answer is a number that suffices by a theorem, for every distribution. If it is known, the answer also has the number that is needed in the worst case."), controls),
    h("div", { class: "column" }, words, problem, facts, chart.element));
  const plan = () => plans.find((one) => one.name === now);
  const value = (field) => values[`${now}.${field.name}`] ?? field.default;
  const text = (field) => (next) => (Number.isInteger(field.step) && field.step >= 1 ? whole(next) : number(next, next < 0.01 ? 4 : 3).replace(/0+$/, "").replace(/\.$/, ""));

  function knob(field) {
    const set = (next) => { values[`${now}.${field.name}`] = next; load(); };
    if (!field.log) return slider({ label: field.about, id: `plan-${field.name}`, min: field.min, max: field.max, step: field.step, value: value(field), write: text(field), input: set });
    const steps = 200, from = Math.log(field.min), to = Math.log(field.max);
    const out = (place) => { const raw = Math.exp(from + (to - from) * place / steps); return field.step >= 1 ? Math.round(raw) : +raw.toPrecision(2); };
    return slider({ label: field.about, id: `plan-${field.name}`, min: 0, max: steps, step: 1, value: Math.round((Math.log(value(field)) - from) / (to - from) * steps), write: (place) => text(field)(out(place)), input: (place) => set(out(place)) });
  }

  function draw() {
    if (!plan()) return;
    along = plan().fields.find((field) => field.name === "epsilon")?.name ?? plan().fields.find((field) => field.log)?.name ?? plan().fields[0]?.name;
    controls.replaceChildren(menu({ label: "Question", id: "plan-question", options: plans.map((one) => [one.name, one.title]), value: now, change: (name) => { now = name; draw(); } }), ...plan().fields.map(knob));
    load();
  }

  const load = settled(async () => {
    const asked = now, given = Object.fromEntries(plan().fields.map((field) => [field.name, value(field)]));
    try {
      const found = await ask("plan", { question: asked, values: given, along });
      if (asked !== now) return;
      problem.hidden = true;
      words.replaceChildren(h("b", { class: "large" }, `${whole(found.number)} ${found.unit}`), h("br"), `${found.question}.`);
      facts.replaceChildren(...[["By", found.theorem], ["Needed in the worst case", found.lower === null ? null : `${whole(found.lower)}${found.lower_for ? `, for ${found.lower_for}` : ""}`],
        ["Needed in a simulation", found.simulated === null || found.simulated === undefined ? null : whole(found.simulated)]].filter(([, one]) => one)
        .map(([name, one]) => h("div", {}, h("dt", {}, name), h("dd", {}, one))));
      curve(found, given);
    } catch (trouble) { problem.textContent = trouble.message; problem.hidden = false; words.textContent = ""; facts.replaceChildren(); chart.element.hidden = true; }
  }, 90);

  /** The position of the selected run: its error across, its rows or rounds upward. */
  function here(found) {
    const run = lab.run(), round = run?.at(Math.min(lab.state.round, run.done));
    if (!round || found.curve.name !== "epsilon") return null;
    if (found.unit === "rounds") return { x: round.training_error, y: round.number, text: `this run: training error ${percent(round.training_error)} after ${round.number} rounds` };
    if (now === "holdout" && round.test) return { x: round.test.upper, y: round.test.n, text: `this run: at most ${atMost(round.test.upper)}, by ${whole(round.test.n)} test points` };
    if (found.unit === "examples" && round.test) return { x: round.test.error, y: run.data.ids.length, text: `this run: test error ${percent(round.test.error)} with ${whole(run.data.ids.length)} points` };
    return null;
  }

  function curve(found, given) {
    chart.element.hidden = !found.curve;
    if (!found.curve) return;
    const { values: xs, numbers, lower, name } = found.curve, field = plan().fields.find((one) => one.name === name);
    const stand = here(found);
    const numbersThere = numbers.filter((one) => one > 0), lows = (lower ?? []).filter((one) => one > 0);
    const reach = [...numbersThere, ...lows, ...(stand ? [stand.y] : [])];
    const series = [{ name: "suffices", tone: "blue", x: xs, y: numbers, noDot: true }];
    if (lows.length) series.push({ name: "needed in the worst case", tone: "soft", dash: "dash", x: xs, y: lower, noDot: true });
    const inside = stand && stand.x >= Math.min(...xs) && stand.x <= Math.max(...xs);
    if (inside) series.push({ name: stand.text, tone: "gold", x: [stand.x], y: [stand.y], reading: "" });
    chart.draw({ xName: field?.about ?? name, series, logX: Boolean(field?.log), log: true, noDots: true, xRange: [Math.min(...xs), Math.max(...xs)],
      yRange: [10 ** Math.floor(Math.log10(Math.max(1, Math.min(...reach)))), 10 ** Math.ceil(Math.log10(Math.max(10, ...reach)))],
      marks: [{ x: given[name], text: "your choice" }, ...(inside ? [{ ...stand, spot: true, tone: "gold" }] : [])], text: `Number of ${found.unit} against ${field?.about ?? name}: ${whole(numbers[0])} at ${xs[0]}, ${whole(numbers.at(-1))} at ${xs.at(-1)}.` });
  }
  return { id: "planner", title: "Planner", element, show() { if (!controls.children.length) draw(); else load(); }, round: load, ask: (name, given = {}) => { now = name; for (const [key, one] of Object.entries(given)) values[`${name}.${key}`] = one; draw(); } };
}
