// Scales of axes, and round numbers for ticks.

/** A linear scale from [low, high] to [start, end]. */
export function linear(low, high, start, end) {
  const span = high - low || 1;
  const at = (value) => start + (value - low) / span * (end - start);
  at.back = (place) => low + (place - start) / (end - start || 1) * span;
  at.ticks = (count = 5) => ticks(low, high, count);
  at.text = (value) => plain(value, Math.abs(span) / 4);
  at.low = low; at.high = high;
  return at;
}

/** A logarithmic scale; values at or below zero lie at the low end. */
export function logarithmic(low, high, start, end) {
  const from = Math.log10(low), to = Math.log10(high);
  const at = (value) => start + (Math.log10(Math.max(value, low)) - from) / (to - from || 1) * (end - start);
  at.back = (place) => 10 ** (from + (place - start) / (end - start || 1) * (to - from));
  at.ticks = () => {
    const found = [];
    const every = Math.max(1, Math.ceil((to - from) / 5));
    for (let k = Math.ceil(from - 1e-9); k <= Math.floor(to + 1e-9); k += every) found.push(10 ** k);
    return found;
  };
  at.text = (value) => {
    const power = Math.round(Math.log10(value));
    if (power >= 0) return (10 ** power).toLocaleString("en");
    return power >= -3 ? (10 ** power).toFixed(-power) : `10${superscript(power)}`;
  };
  at.low = low; at.high = high;
  return at;
}

const superscript = (power) => String(power).replace("-", "⁻").replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]);

/** About count round numbers from low to high. */
export function ticks(low, high, count = 5) {
  if (!(high > low)) return [low];
  const raw = (high - low) / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= raw * 0.999) ?? raw;
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-6; k++) found.push(+(k * step).toPrecision(12));
  return found;
}

/** A number with as few digits as its axis needs. */
export function plain(value, span = 1) {
  const digits = Math.max(0, Math.min(6, 1 - Math.floor(Math.log10(span || 1))));
  const text = value.toFixed(digits);
  return (text.includes(".") ? text.replace(/0+$/, "").replace(/\.$/, "") : text).replace("-", "−");
}
