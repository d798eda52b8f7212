// Helpers: build elements, format numbers, announce to screen readers.

const SVG = "http://www.w3.org/2000/svg";

function fill(element, given, children) {
  for (const [name, value] of Object.entries(given ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.setAttribute("class", value);
    else if (name === "dataset") Object.assign(element.dataset, value);
    else if (name === "value" || name === "checked") element[name] = value;
    else element.setAttribute(name, value === true && !name.startsWith("aria-") ? "" : value);
  }
  element.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** Make an HTML element: h("p", {class: "note"}, "text", another). */
export const h = (tag, given, ...children) => fill(document.createElement(tag), given, children);

/** Make an SVG element. */
export const s = (tag, given, ...children) => fill(document.createElementNS(SVG, tag), given, children);

export const find = (selector, root = document) => root.querySelector(selector);

/** Format a share as a percentage, with enough digits for small ones. */
export function percent(share, digits) {
  if (share === null || share === undefined || Number.isNaN(share)) return "–";
  const hundred = 100 * share;
  const places = digits ?? (hundred === 0 || hundred === 100 ? 0 : Math.abs(hundred) >= 9.995 ? 1 : 2);
  if (hundred > 0 && hundred < 0.005 && digits === undefined) return "< 0.01 %";
  return `${hundred.toFixed(places)} %`;
}

/** A bound as a percentage, rounded up so that it stays true. */
export const atMost = (share) => (share === null || share === undefined ? "–" : percent(Math.ceil(share * 1e4 - 1e-10) / 1e4, share >= 1 ? 0 : 2));

/** The lower end of an interval as a percentage, rounded down. */
export const atLeast = (share) => percent(Math.floor(share * 1e4 + 1e-10) / 1e4, 2);

/** A percentage for axes, without decimals if it is whole. */
export const round100 = (share) => percent(share, (share === 0 || Math.round(100 * share) !== 0) && Math.abs(100 * share - Math.round(100 * share)) < 1e-6 ? 0 : undefined);

/** Format a number with four decimals, or as a power of ten if it is tiny. */
export function number(value, digits = 4) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  const text = value !== 0 && Math.abs(value) < 10 ** -digits ? value.toExponential(1) : value.toFixed(digits);
  return text.replace("-", "−");
}

/** Format a whole number with thousands separators. */
export const whole = (value) =>
  value === null || value === undefined ? "–" : String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ",").replace("-", "−");

/** Announce a text to screen readers without moving the focus. */
export function announce(text) {
  const place = find("#announcer");
  if (place) place.textContent = text;
}

/** Show a message that disappears after a while or when it is closed; errors stay longer. */
export function notice(text, kind = "info") {
  const box = h("div", { class: `notice ${kind}`, role: kind === "error" ? "alert" : "status" },
    h("span", {}, text),
    h("button", { class: "quiet icon", "aria-label": "Close this message", onclick: () => box.remove() }, "×"));
  find("#notices").append(box);
  setTimeout(() => box.remove(), kind === "error" ? 12000 : 4500);
  return box;
}

/** Run at most once per frame, with the latest arguments. */
export function framed(task) {
  let waiting = false, latest = [];
  return (...given) => {
    latest = given;
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; task(...latest); });
  };
}

/** Run when calls have stopped for a while. */
export function settled(task, wait = 180) {
  let timer = 0;
  return (...given) => { clearTimeout(timer); timer = setTimeout(() => task(...given), wait); };
}

/** Read a colour of the style sheet, for canvases. */
export function colours(element = document.documentElement) {
  const probe = h("i", { hidden: true });
  element.append(probe);
  const found = {};
  for (const name of ["paper", "card", "ink", "soft", "rule", "faint", "blue", "red", "gold", "green"]) {
    probe.style.color = `var(--${name})`;
    found[name] = getComputedStyle(probe).color;
  }
  probe.remove();
  return found;
}

/** Return [r, g, b] of a computed colour such as rgb(1, 2, 3). */
export const channels = (colour) => (colour.match(/[\d.]+/g) ?? [0, 0, 0]).slice(0, 3).map(Number);

/** A labelled control: text above, control below, current value at the right. */
export function field(label, control, value) {
  return h("label", { class: "field" }, h("span", { class: "name" }, label), value ?? null, control);
}

/** A labelled slider that shows its value while it moves. */
export function slider({ label, min, max, step, value, write = String, change, input, id }) {
  const shown = h("b", {}, write(value)); // not an output: a label would name it instead of the slider
  const control = h("input", {
    type: "range", min, max, step, id, value,
    oninput: () => { shown.textContent = write(+control.value); input?.(+control.value); },
    onchange: () => change?.(+control.value),
  });
  control.value = value;
  const label_ = field(label, control, shown);
  label_.set = (next) => { control.value = next; shown.textContent = write(next); };
  return label_;
}

/** A labelled menu; options are [value, text] or {group, options}. */
export function menu({ label, options, value, change, id }) {
  const option = ([key, text]) => h("option", { value: key, selected: String(key) === String(value) }, text);
  const control = h("select", { id, onchange: () => change(control.value) },
    options.map((item) => Array.isArray(item) ? option(item)
      : h("optgroup", { label: item.group }, item.options.map(option))));
  const wrapped = field(label, control);
  return wrapped;
}

/** Download a file. */
export function download(name, content, type) {
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const link = h("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  window.labLastDownload = { name, size: blob.size, type: blob.type };
}
