// Arrays and states as text.

function bytes(text) {
  const raw = atob(text), found = new Uint8Array(raw.length);
  for (let k = 0; k < raw.length; k++) found[k] = raw.charCodeAt(k);
  return found;
}

/** Numbers of 32 bits from base64. */
export const f32 = (text) => new Float32Array(bytes(text).buffer);

/** Small whole numbers from base64. */
export const i8 = (text) => new Int8Array(bytes(text).buffer);

/** A state as the part of an address after #. */
export function pack(state) {
  const raw = new TextEncoder().encode(JSON.stringify(state));
  let text = "";
  for (const one of raw) text += String.fromCharCode(one);
  return `s=${btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/** The state in an address; null if there is none, an error if it is broken. */
export function unpack(hash) {
  const found = hash.match(/^#?s=(.*)$/);
  if (!found) return null;
  const raw = bytes(found[1].replaceAll("-", "+").replaceAll("_", "/"));
  const state = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(raw));
  if (!state || !Array.isArray(state.lanes) || !state.lanes.length || state.lanes.some((lane) => !lane?.run?.data?.kind)) {
    throw new Error("no runs in it");
  }
  return state;
}

/** A deep copy of plain data. */
export const copy = (value) => JSON.parse(JSON.stringify(value));

/** A key of a specification that does not depend on the order of its fields. */
export function keyOf(value) {
  if (Array.isArray(value)) return `[${value.map(keyOf).join()}]`;
  if (value && typeof value === "object") {
    return `{${Object.keys(value).sort().filter((name) => value[name] !== undefined).map((name) => `${name}:${keyOf(value[name])}`).join()}}`;
  }
  return JSON.stringify(value);
}
