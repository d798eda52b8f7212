// Requests to the engine: over the network, or to the recording inside an offline page.

import { keyOf } from "lab/codec.js";

const box = document.getElementById("recording");

/** The recorded run of an offline page; null if there is a server. */
export const recording = box ? JSON.parse(box.textContent) : null;

class Refusal extends Error {
  constructor({ kind, message }, status) { super(message); this.kind = kind; this.status = status; }
}

/** Ask the engine; returns JSON, or throws an error with a readable message. */
export async function ask(name, given = {}) {
  if (recording) return replay(name, given);
  let answer;
  try {
    answer = await fetch(`/api/${name}`, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(given) });
  } catch {
    throw new Refusal({ kind: "access", message: "The lab's server does not answer. Is `pacboost lab` still running in the terminal?" }, 0);
  }
  return read(answer);
}

/** Upload a file. */
export async function upload(file) {
  if (recording) throw new Refusal({ kind: "access", message: "This page is a recording: start `pacboost lab` to use your own data." }, 0);
  const answer = await fetch(`/api/upload?name=${encodeURIComponent(file.name)}`, { method: "POST", headers: { "Content-Type": "text/csv" }, body: file });
  return read(answer);
}

/** Request a page with a recorded run. */
export async function offline(given) {
  const answer = await fetch("/api/offline", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(given) });
  if (!answer.ok) await read(answer);
  return answer.text();
}

async function read(answer) {
  let found = null;
  try { found = await answer.json(); } catch { /* the message below says it */ }
  if (answer.ok && found) return found;
  throw new Refusal(found?.error ?? { kind: "internal", message: `The lab's server answered with status ${answer.status}.` }, answer.status);
}

const no = (what) => new Refusal({ kind: "recorded", message: `${what} needs the engine. This page is a recording: start \`pacboost lab\` to use it.` }, 0);

async function replay(name, given) {
  if (name === "catalog") return { ...recording.catalog, boot: null, files: [] };
  const same = (run) => keyOf(run.data) === keyOf(given.data ?? given.run?.data);
  if (name === "data") {
    const found = recording.runs.find(({ run }) => same(run));
    if (found) return found.data;
    throw no("Changing the data");
  }
  const found = recording.runs.find(({ run }) => given.run && keyOf(run) === keyOf(given.run));
  if (!found) throw no({ filtering: "Filtering", plan: "The planner" }[name] ?? "This");
  if (name === "run") {
    if (given.to === 0) return found.start;
    const whole = found.answer, to = Math.min(given.to, whole.done);
    const next = to === whole.done ? whole.next : null;
    return { ...whole, rounds: whole.rounds.slice(given.from - 1, to), next };
  }
  if (name === "code") return found.code;
  if (name === "certificates") {
    const kept = Object.keys(found.certificates).map(Number).sort((a, b) => a - b);
    const at = kept.filter((round) => round <= given.round).pop() ?? kept[0];
    if (at !== undefined) return found.certificates[at];
  }
  throw no("This");
}
