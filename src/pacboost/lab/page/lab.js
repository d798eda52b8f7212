// The state of the page and its methods. Views listen; stories and tests call the same methods.

import { copy, keyOf, pack } from "lab/codec.js";
import { recording } from "lab/api.js";
import { Run } from "lab/run.js";
import { announce, settled } from "lab/dom.js";

export const LETTERS = "ABC";

/** A specification with defaults for all missing fields. */
export const runSpec = (given = {}) => ({
  data: { kind: "lecture" }, method: "boost", booster: { name: "adaboost", parameters: {} },
  learner: { name: "stump", parameters: {} }, rules: [], changes: [], seed: 0, ...given,
});

export const START = { v: 1, lanes: [{ run: runSpec(), at: 0 }], selected: 0, round: 0, rounds: 10, tab: "certificates", shared: true };

export class Lab {
  #listeners = new Map();
  #cache = new Map();
  #keys = new WeakMap();
  #past = [];
  #timer = 0;

  constructor(catalog) {
    this.catalog = catalog;
    this.state = copy(START);
    this.tool = "look";
    this.speed = 2;
    this.playing = false;
    this.own = null;
    this.write = settled(() => { if (!recording) history.replaceState(null, "", `#${pack(this.state)}`); }, 120);
  }

  on(name, task) {
    for (const one of name.split(" ")) this.#listeners.set(one, [...(this.#listeners.get(one) ?? []), task]);
  }

  emit(name, ...given) { for (const task of this.#listeners.get(name) ?? []) task(...given); }

  /** The engine's run of a lane. */
  run(k = this.state.selected) {
    const spec = this.state.lanes[k]?.run;
    if (!spec) return null;
    let key = this.#keys.get(spec);
    if (!key) this.#keys.set(spec, key = keyOf(spec));
    let found = this.#cache.get(key);
    if (!found) {
      found = new Run(copy(spec), (what, run) => { if (this.runs().includes(run)) this.emit(what, run); });
      this.#cache.set(key, found);
      if (this.#cache.size > 24) this.#cache.delete(this.#cache.keys().next().value);
    }
    return found;
  }

  runs() { return this.state.lanes.map((_, k) => this.run(k)); }

  /** The last round of the player. */
  get last() {
    return Math.max(1, ...this.runs().map((run) => (run.ended || run.error ? run.done : Math.max(this.state.rounds, run.done))));
  }

  /** Change the state; lanes whose specification changed are run again. */
  change(task, { keep = true } = {}) {
    if (keep) { this.#past.push(copy(this.state)); if (this.#past.length > 60) this.#past.shift(); }
    task(this.state);
    this.#keys = new WeakMap();
    this.state.selected = Math.min(this.state.selected, this.state.lanes.length - 1);
    this.own = null;
    this.refresh();
  }

  get canUndo() { return this.#past.length > 0; }

  undo() { const before = this.#past.pop(); if (before) { this.state = before; this.own = null; this.refresh(); } }

  refresh() {
    this.#keys = new WeakMap();
    for (const run of this.runs()) { if (run.error && run.error.kind === "access") run.error = run.opening = null; run.load(this.state.rounds); }
    this.emit("lanes"); this.emit("round"); this.emit("tab");
    this.write();
  }

  /** Set a complete state, such as a link's or a story's. */
  take(state) {
    this.pause();
    this.#past.push(copy(this.state));
    this.state = { ...copy(START), ...copy(state) };
    this.own = null;
    this.setTool("look");
    this.refresh();
  }

  /** Go to a round: 0 is the start. */
  goto(t, { smooth = 0, quiet = true } = {}) {
    const next = Math.max(0, Math.min(Math.round(t), this.last));
    const moved = next !== this.state.round;
    this.state.round = next;
    if (moved) this.own = null;
    this.emit("round", { smooth });
    this.write();
    if (!quiet) announce(this.tell?.() ?? `Round ${next}`);
  }

  /** Take one step; at the end ask for more rounds. */
  async step(by = 1, given = {}) {
    const wanted = this.state.round + by;
    if (wanted > this.state.rounds && this.runs().some((run) => !run.ended && !run.error)) this.more(Math.max(10, Math.round(this.state.rounds / 4)));
    if (by > 0) await Promise.all(this.runs().map((run) => (run.done < wanted && !run.ended ? run.load(Math.max(wanted, this.state.rounds)) : null)));
    this.goto(wanted, { smooth: 260, ...given });
  }

  more(count) {
    this.state.rounds = Math.min(this.catalog.limits.rounds, this.state.rounds + count);
    for (const run of this.runs()) run.load(this.state.rounds);
    this.emit("rounds", this.run());
    this.write();
  }

  setRounds(count) { this.change((state) => { state.rounds = count; state.round = Math.min(state.round, count); }, { keep: false }); }

  play() {
    if (this.playing) return;
    if (this.state.round >= this.last) this.goto(0);
    this.playing = true;
    this.emit("playing");
    const beat = () => {
      const pace = 1000 / this.speed;
      this.#timer = setTimeout(() => {
        if (!this.playing) return;
        const ready = this.runs().every((run) => run.done > this.state.round || run.ended || run.error);
        if (this.state.round >= this.last) { this.pause(); return; }
        if (ready) this.goto(this.state.round + 1, { smooth: pace > 240 ? Math.min(320, pace * 0.6) : 0 });
        beat();
      }, pace);
    };
    beat();
  }

  pause() { clearTimeout(this.#timer); if (this.playing) { this.playing = false; this.emit("playing"); } }

  setTool(name) { this.tool = name; this.own = null; this.emit("tool"); this.emit("round", {}); }

  setTab(name) { this.state.tab = name; this.emit("tab"); this.write(); }

  select(k) { this.state.selected = k; this.own = null; this.refresh(); }

  /** Lanes that a change of the data affects. */
  #targets(state) { return state.shared ? state.lanes : [state.lanes[state.selected]]; }

  /** Change the data. */
  setData(patch, { fresh = false } = {}) {
    this.change((state) => {
      for (const lane of this.#targets(state)) {
        lane.run.data = fresh ? copy(patch) : { ...lane.run.data, ...copy(patch) };
        if (fresh) { lane.run.rules = []; }
      }
      if (fresh) state.round = 0;
    });
  }

  /** Change the edits of points: task gets {moved, flipped, deleted, added}. */
  edit(task) {
    this.change((state) => {
      for (const lane of this.#targets(state)) {
        const edits = { moved: {}, flipped: [], deleted: [], added: [], ...copy(lane.run.data.edits ?? {}) };
        task(edits);
        lane.run.data.edits = edits;
      }
    });
  }

  paintPoints(points) { this.edit((edits) => edits.added.push(...points.map(([x, y, label]) => [+x.toFixed(3), +y.toFixed(3), label]))); }

  movePoint(k, [x, y]) {
    const { data } = this.run(), id = data.ids[k];
    this.edit((edits) => {
      const place = [+x.toFixed(3), +y.toFixed(3)];
      if (id >= data.base) edits.added[id - data.base] = [...place, edits.added[id - data.base][2]];
      else edits.moved[id] = place;
    });
  }

  flipPoint(k) {
    const { data } = this.run(), id = data.ids[k];
    const noisy = data.flipped.includes(id);
    this.edit((edits) => {
      if (id >= data.base) { const [x, y, label] = edits.added[id - data.base]; edits.added[id - data.base] = [x, y, -label]; }
      else if (edits.flipped.includes(id)) edits.flipped = edits.flipped.filter((one) => one !== id);
      else edits.flipped.push(id);
    });
    this.emit("flipped", id, noisy);
  }

  erasePoints(ids) { this.edit((edits) => { edits.deleted = [...new Set([...edits.deleted, ...ids])]; }); }

  /** Change booster, learner or method of the selected lane; a forked lane changes after its fork. */
  setMethod(part, value) {
    this.change((state) => {
      const lane = state.lanes[state.selected], { run } = lane;
      if (lane.at > 0 && part !== "method") {
        const last = run.changes.find((one) => one.after === lane.at);
        if (last) last[part] = value; else run.changes.push({ after: lane.at, [part]: value });
      } else run[part] = value;
      if (part === "learner" && run.learner.name !== "stump") run.rules = [];
    });
  }

  /** The booster or learner of a lane after its last change. */
  current(part, k = this.state.selected) {
    const { run } = this.state.lanes[k];
    return run.changes.reduce((now, one) => one[part] ?? now, run[part]);
  }

  /** Add a copy of a lane that can be changed after this round. */
  fork(k = this.state.selected) {
    if (this.state.lanes.length >= LETTERS.length) return;
    const at = Math.min(this.state.round, this.run(k).done);
    this.change((state) => {
      const lane = copy(state.lanes[k]);
      lane.at = at;
      lane.run.rules = lane.run.rules.filter((one) => one.round <= at);
      state.lanes.splice(k + 1, 0, lane);
      state.selected = k + 1;
    });
  }

  remove(k) {
    if (this.state.lanes.length < 2) return;
    this.change((state) => { state.lanes.splice(k, 1); state.selected = 0; });
  }

  /** Set the rule of the next round by hand. */
  async commitRule(rule) {
    const { round, selected } = this.state;
    this.change((state) => {
      const { run } = state.lanes[selected];
      run.rules = [...run.rules.filter((one) => one.round <= round), { round: round + 1, rule }];
      state.rounds = Math.max(state.rounds, round + 1);
    });
    await this.run(selected).load(this.state.rounds);
    this.goto(round + 1, { smooth: 300, quiet: false });
    this.emit("committed", rule);
  }
}
