// Certificates side by side, each with its assumptions.

import { h, atMost, percent, slider, whole, settled } from "lab/dom.js";
import { ask } from "lab/api.js";

const lines = (pairs) => h("dl", {}, pairs.filter(([, text]) => text !== null && text !== undefined && text !== "" && text.length !== 0)
  .map(([name, text]) => h("div", {}, h("dt", {}, name), h("dd", {}, Array.isArray(text) ? h("ul", {}, text.map((one) => h("li", {}, one))) : text))));

export function certificateCard(one) {
  const kind = one.refused ? "void" : one.holds_for === "training rows" ? "training" : "";
  return h("article", { class: `certificate ${kind}`, dataset: { certificate: one.id } },
    h("p", { class: "tag" }, one.holds_for ?? "new examples"), h("h3", {}, one.title ?? "Held-out rows"),
    h("p", { class: "value" }, one.refused ? "refused" : one.value === null ? "–" : one.vacuous ? "says nothing" : `≤ ${atMost(one.value)}`),
    one.refused ? h("p", { class: "claim" }, one.refused) : h("p", { class: "claim" }, one.claim), one.moved?.length
      ? slider({ label: "New points from elsewhere", min: 0, max: one.moved.length - 1, step: 1, value: 0, write: (share) => `${share} %: ≤ ${atMost(one.moved[share])}` }) : null,
    lines([
      ["It would have said", one.would_say === null || one.would_say === undefined ? null : `≤ ${atMost(one.would_say)}, if that were allowed`],
      ["Bound", one.vacuous && one.value !== null && !one.refused ? `${atMost(one.value)}: no better than chance` : null],
      ["What it assumes", one.assumes], ["Sample", one.refused ? null : one.sample ? `${one.sample}${one.size ? `, ${whole(one.size)} rows` : ""}` : null],
      ["Chance that it fails", one.refused || one.fails_with === null || one.fails_with === undefined ? null : one.fails_with === 0 ? "none" : `at most ${percent(one.fails_with)}`],
      ["Theorem", one.reference ? `${one.theorem} (${one.reference})` : one.theorem],
    ]));
}

export function certificatesPanel(lab) {
  const truth = h("p", { class: "statement" });
  const cards = h("div", { class: "cards" });
  const stand = h("p", { class: "small" });
  const element = h("div", { class: "two" },
    h("div", { class: "lead" }, h("h2", {}, "How certain is it?"),
      h("p", {}, "A low training error proves nothing about new points. A certificate is a bound on the error that holds with a stated probability, if its assumptions are true."),
      truth, stand), cards);
  let wanted = "";

  const load = settled(async () => {
    const run = lab.run(), round = Math.min(lab.state.round, run.done);
    const key = `${run.key}|${round}`;
    if (key === wanted && cards.children.length) return;
    wanted = key;
    if (!round) { cards.replaceChildren(h("p", { class: "small" }, "Certificates come with the first round: take a step.")); truth.textContent = ""; stand.textContent = ""; return; }
    try {
      const found = await ask("certificates", { run: run.spec, round, delta: 0.05 });
      if (wanted !== key) return;
      stand.textContent = `After round ${found.round}, at ${percent(1 - found.delta, 0)} confidence.`;
      truth.replaceChildren(...(found.truth ? ["Here the truth is known: the vote is wrong on ", h("b", {}, percent(found.truth.error)), ` of ${whole(found.truth.n)} fresh points.`] : []));
      cards.replaceChildren(...found.certificates.map(certificateCard));
      lab.lastCertificates = found;
      lab.emit("certified", found);
    } catch (problem) { wanted = ""; cards.replaceChildren(h("p", { class: "problem" }, problem.message)); truth.textContent = ""; }
  }, 220);
  return { id: "certificates", title: "Certificates", element, show: load, round: load, rounds: load };
}
