// Guides through stories, and checks challenges.

import { h, find, notice, announce } from "lab/dom.js";
import { STORIES } from "lab/stories.js";
import { CHALLENGES } from "lab/challenges.js";

const STORE = "pacboost-lab-won";
const remember = (list) => { try { localStorage.setItem(STORE, JSON.stringify(list)); } catch { /* private windows may refuse */ } };
const recall = () => { try { return JSON.parse(localStorage.getItem(STORE)) ?? []; } catch { return []; } };

export function guide(lab, openDialog) {
  const place = find("#story");
  new ResizeObserver(() => document.documentElement.style.setProperty("--story", `${place.hidden ? 0 : place.offsetHeight + 8}px`)).observe(place);
  let story = null, step = 0, ready = false, challenge = null, won = recall();
  const text = h("div", { class: "text" }), task = h("div", { class: "task" }), marks = h("div", { class: "steps", "aria-hidden": true });
  const title = h("h2", { class: "title" }), back = h("button", { class: "back", onclick: () => go(step - 1) }, "Back"), next = h("button", { class: "first next", onclick: () => go(step + 1) }, "Next");
  const close = h("button", { class: "quiet", onclick: () => stop() }, "Close");

  const side = (...rows) => h("div", { class: "side" }, rows.map((row) => h("div", { class: "row" }, row)));

  function draw() {
    if (!story) return;
    const now = story.steps[step];
    const parts = now.text(lab).filter(Boolean);
    if (text.dataset.said !== parts.join("\n")) { text.dataset.said = parts.join("\n"); text.replaceChildren(...parts.map((part) => h("p", {}, part))); }
    const done = now.task ? Boolean(now.task.done(lab)) : true;
    const state = `${step}|${done}`;
    task.hidden = !now.task;
    if (now.task && task.dataset.state !== state) {
      task.dataset.state = state; task.dataset.done = String(done);
      task.replaceChildren(h("b", {}, done ? "✓ Done" : "Your turn:"), h("span", {}, done ? "" : now.task.text),
        ...(done ? [] : [h("button", { class: "help", onclick: () => now.task.help(lab) }, now.task.label ?? "Do it for me")]));
      if (done && ready) announce("Done. You can go on.");
    }
    next.disabled = !done;
    next.textContent = step === story.steps.length - 1 ? "Finish" : "Next";
    back.disabled = step === 0;
  }

  async function go(to) {
    if (to >= story.steps.length) { finish(); return; }
    step = Math.max(0, to); ready = false; task.dataset.state = "";
    title.textContent = story.title;
    marks.replaceChildren(...story.steps.map((_, k) => h("i", { class: k <= step ? "past" : "" })));
    place.setAttribute("aria-label", `Story: ${story.title}, step ${step + 1} of ${story.steps.length}`);
    await story.steps[step].do?.(lab);
    lab.state.story = { id: story.id, step };
    lab.write();
    draw(); ready = true;
    announce(`Step ${step + 1} of ${story.steps.length}. ${text.textContent}`);
  }

  async function begin(id, at = 0, restore = false) {
    story = STORIES.find((one) => one.id === id);
    if (!story) return;
    challenge = null;
    lab.lastFiltering = null; lab.found = {};
    place.hidden = false;
    place.replaceChildren(title, text, task, side([marks, close], [back, next]));
    if (restore) { step = Math.min(at, story.steps.length - 1); title.textContent = story.title; marks.replaceChildren(...story.steps.map((_, k) => h("i", { class: k <= step ? "past" : "" }))); draw(); return; }
    await go(at);
    scrollTo({ top: 0, behavior: "auto" });
    next.focus({ preventScroll: true });
  }

  function stop() {
    story = challenge = null; place.hidden = true; place.replaceChildren();
    delete lab.state.story; lab.mark([]); lab.setTool("look"); lab.write();
  }

  function finish() {
    const at = STORIES.indexOf(story), following = STORIES[at + 1];
    stop();
    place.hidden = false;
    place.replaceChildren(h("div", { class: "text" }, following ? `That was the story. The next one: ${following.title}.` : "That was the last story. Try a challenge."),
      side([following ? h("button", { class: "first", onclick: () => begin(following.id) }, "Start it") : h("button", { class: "first", onclick: open }, "Challenges"), h("button", { class: "quiet", onclick: () => { place.hidden = true; } }, "Close")]));
  }

  function take(id) {
    challenge = CHALLENGES.find((one) => one.id === id);
    story = null; lab.ownRules = []; lab.flips = []; lab.lastCertificates = null;
    delete lab.state.story;
    const state = h("p", { class: "task challenge-state" });
    place.hidden = false;
    place.replaceChildren(h("h2", { class: "title" }, challenge.title), h("div", { class: "text" }, h("p", {}, challenge.about)), state, side([close]));
    challenge.state = state;
    challenge.begin(lab);
    watch();
  }

  function watch() {
    draw();
    if (!challenge) return;
    const [done, note] = challenge.check(lab);
    challenge.state.dataset.done = String(done);
    challenge.state.textContent = done ? `✓ Solved: ${note}` : note ? `Not yet: ${note}` : "The lab watches and marks it when it is solved.";
    if (done && !won.includes(challenge.id)) {
      won = [...won, challenge.id]; remember(won);
      notice(`Solved: ${challenge.title}.`);
    }
  }

  function open() {
    const card = (item, task_, extra) => h("button", { dataset: { item: item.id }, onclick: () => { find("#dialog").close(); task_(item.id); } }, h("b", {}, item.title), h("span", {}, item.about), extra);
    openDialog("Stories and challenges", h("h3", {}, "Stories, one to two minutes each"),
      h("div", { class: "choices stories" }, STORIES.map((item) => card(item, begin))),
      h("h3", {}, "Challenges that mark themselves"),
      h("div", { class: "choices challenges" }, CHALLENGES.map((item) => card(item, take, won.includes(item.id) ? h("span", { class: "won" }, "✓ solved") : null))));
  }

  function invite() {
    place.hidden = false;
    place.replaceChildren(h("p", { class: "text" }, "New here? In two minutes you will know what a weak learner is, and how many poor rules make a good one."),
      side([h("button", { class: "first begin", onclick: () => begin("toy") }, "Start the first story"), h("button", { class: "quiet", onclick: () => { place.hidden = true; } }, "Not now")]));
  }

  lab.on("round rounds data lanes tool certified filtered instrument", watch);
  lab.on("ownRule", (given) => { (lab.ownRules ??= []).push({ ...given, helped: lab.helped }); lab.helped = false; watch(); });
  lab.on("flipped", (id, noisy) => { (lab.flips ??= []).push({ id, noisy }); watch(); });
  return { open, begin, take, invite, stop, now: () => ({ story: story?.id ?? null, step, ready, challenge: challenge?.id ?? null }) };
}
