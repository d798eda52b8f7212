// One run of the engine: its points, and its rounds as they arrive.

import { ask } from "lab/api.js";
import { f32, i8, keyOf } from "lab/codec.js";

const LAZY = { weights: f32, margins: f32, margin_cdf: f32, agree: i8, surface: f32 };

/** Decode arrays of a round when they are first used. */
function lazy(round) {
  for (const [name, decode] of Object.entries(LAZY)) {
    const text = round[name];
    if (typeof text !== "string") continue;
    let found = null;
    Object.defineProperty(round, name, { get: () => (found ??= decode(text)), enumerable: true });
  }
  return round;
}

const surfaceSize = (rounds) => (rounds <= 120 ? 56 : rounds <= 400 ? 36 : 24);

export class Run {
  constructor(spec, report) {
    Object.assign(this, { spec, report, key: keyOf(spec), data: null, start: null, rounds: [], head: null, stopped: "", error: null, busy: null, ended: false, fine: new Map(), rules: new Map() });
  }

  get done() { return this.rounds.length; }

  /** Request the points and D_1. */
  open() {
    this.opening ??= (async () => {
      try {
        this.data = await ask("data", { data: this.spec.data });
        this.data.place = new Map(this.data.ids.map((id, k) => [id, k]));
        this.report("data", this);
        if (!this.data.label.includes(1) || !this.data.label.includes(-1)) {
          throw new Error("A run needs points of both classes. Choose “Paint +” and “Paint −” and click into the picture.");
        }
        this.start = await ask("run", { run: this.spec, from: 1, to: 0, surface: 0 });
        if (this.start.next) lazy(this.start.next);
        this.head = this.start.head;
      } catch (problem) { this.error = problem; }
      this.report("data", this);
    })();
    return this.opening;
  }

  /** Request rounds up to this one, the first few first. */
  async load(rounds) {
    await this.open();
    this.wanted = Math.max(this.wanted ?? 0, rounds);
    if (this.busy || this.error) return this.busy;
    this.busy = this.#fetch();
    try { await this.busy; } finally { this.busy = null; }
    return undefined;
  }

  async #fetch() {
    while (!this.ended && this.done < this.wanted) {
      const from = this.done + 1, to = Math.min(this.wanted, this.done + (this.done < 5 ? 5 : this.done < 30 ? 25 : 60));
      let answer;
      try {
        answer = await ask("run", { run: this.spec, from, to, surface: this.data.plane ? surfaceSize(this.wanted) : 0 });
      } catch (problem) { this.error = problem; this.report("rounds", this); return; }
      if (answer.restarted || answer.done < from - 1) {
        answer = from === 1 ? answer : await ask("run", { run: this.spec, from: 1, to: answer.done, surface: this.data.plane ? 56 : 0 });
        this.rounds = [];
        this.restarted = true;
      }
      answer.rounds.forEach((round) => { this.rounds[round.number - 1] = lazy(round); });
      if (answer.next) this.last = lazy(answer.next);
      this.head = answer.head; this.stopped = answer.stopped;
      this.ended = this.done < to || (Boolean(answer.stopped) && this.done >= answer.done);
      this.report("rounds", this);
    }
  }

  /** The state after t rounds; t = 0 is the start. */
  at(t) { return t > 0 ? this.rounds[Math.min(t, this.done) - 1] ?? null : null; }

  /** D_t, under which rule t was chosen; at the start D_1. */
  weights(t) { return t > 0 ? this.at(t)?.weights ?? null : this.start?.next?.weights ?? null; }

  /** D_{t+1}, under which the next rule is chosen. */
  async nextWeights(t) {
    if (t === 0) return this.start?.next ?? null;
    if (this.rounds[t]) return { number: t + 1, weights: this.rounds[t].weights, heaviest: this.rounds[t].heaviest, effective_size: this.rounds[t].effective_size };
    if (this.last?.number === t + 1) return this.last;
    const answer = await ask("run", { run: this.spec, from: t, to: t, surface: 0 });
    return answer.next ? lazy(answer.next) : null;
  }

  /** A fine surface of the vote or of a rule; null if there is none. */
  async surface(t, what) {
    const store = what === "rule" ? this.rules : this.fine;
    if (!store.has(t)) {
      store.set(t, null);
      try {
        const answer = await ask("surface", { run: this.spec, rounds: [t], size: 96, what });
        const frame = answer.frames?.[t];
        store.set(t, frame ? { size: answer.size, values: f32(frame), box: answer.box } : null);
        if (store.size > 60) store.delete(store.keys().next().value);
      } catch { store.delete(t); return null; }
    }
    return store.get(t);
  }
}
