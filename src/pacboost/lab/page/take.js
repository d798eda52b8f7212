// Exports: a link, the code, pictures, tables and an offline page.

import { h, s, colours, find, download, notice } from "lab/dom.js";
import { ask, offline, recording } from "lab/api.js";
import { pack, copy } from "lab/codec.js";
import { LETTERS } from "lab/lab.js";

export function openDialog(title, ...children) {
  const box = find("#dialog");
  box.replaceChildren(h("div", {}, h("div", { class: "row apart" }, h("h2", { id: "dialog-title" }, title), h("button", { class: "quiet", "aria-label": "Close", onclick: () => box.close() }, "Close")), children));
  if (!box.open) box.showModal();
}

async function toClipboard(text, words) {
  try { await navigator.clipboard.writeText(text); notice(words); } catch { notice("The browser did not allow copying; select the text and copy it.", "error"); }
}

/** The styles that a chart needs when it leaves the page. */
const KEPT = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity", "font-family", "font-size", "visibility", "text-anchor"];

export function chartSvg(svg, title) {
  const twin = svg.cloneNode(true), from = [svg, ...svg.querySelectorAll("*")], to = [twin, ...twin.querySelectorAll("*")];
  from.forEach((one, k) => { const style = getComputedStyle(one); to[k].removeAttribute("class"); for (const name of KEPT) to[k].setAttribute(name, style.getPropertyValue(name)); });
  twin.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  const label = document.createElementNS("http://www.w3.org/2000/svg", "title");
  label.textContent = title;
  twin.prepend(label);
  return new XMLSerializer().serializeToString(twin);
}

/** The picture of a lane in lines and shapes; the ground is an image inside it. */
export function pictureSvg(picture, title) {
  const scene = picture.now(), wide = picture.canvas.clientWidth, high = picture.canvas.clientHeight, tones = colours();
  const box = picture.canvas.getBoundingClientRect(), place = (x, y) => { const [a, b] = picture.at(x, y); return [a - box.left, b - box.top]; };
  const [left, top] = place(scene.box[0], scene.box[3]), [right, low] = place(scene.box[1], scene.box[2]);
  const { cut } = scene, line = cut && (cut.feature === 0 ? [...place(cut.threshold, scene.box[2]), ...place(cut.threshold, scene.box[3])] : [...place(scene.box[0], cut.threshold), ...place(scene.box[1], cut.threshold)]);
  const shape = (k) => {
    const [x, y] = place(scene.xs[k], scene.ys[k]), r = picture.radius(k), d = r * 1.22;
    return scene.labels[k] > 0 ? s("circle", { cx: x, cy: y, r, fill: tones.blue }) : s("path", { d: `M${x} ${y - d}L${x + d} ${y}L${x} ${y + d}L${x - d} ${y}Z`, fill: tones.red });
  };
  const found = s("svg", { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${wide} ${high}`, width: wide, height: high }, s("title", {}, title),
    s("rect", { x: left, y: top, width: right - left, height: low - top, fill: tones.card, stroke: tones.rule }),
    scene.grid ? s("image", { href: picture.ground(), x: left, y: top, width: right - left, height: low - top, preserveAspectRatio: "none", "image-rendering": "pixelated" }) : null,
    line ? s("line", { x1: line[0], y1: line[1], x2: line[2], y2: line[3], stroke: tones.ink, "stroke-width": 2 }) : null,
    scene.xs.map((_, k) => shape(k)));
  return new XMLSerializer().serializeToString(found);
}

const csv = (rows) => rows.map((row) => row.map((one) => (one === null || one === undefined ? "" : /[",\n]/.test(String(one)) ? `"${String(one).replaceAll('"', '""')}"` : String(one))).join(",")).join("\n") + "\n";

export function roundsCsv(run) {
  const names = ["number", "rule", "error", "edge", "vote", "normaliser", "training_error", "bound", "bound_edges", "effective_size", "least_margin"];
  return csv([[...names, "test_error", "test_lower", "test_upper"], ...run.rounds.map((round) => [...names.map((name) => round[name]), round.test?.error, round.test?.lower, round.test?.upper])]);
}

export function pointsCsv(run, t) {
  const round = run.at(t), weights = run.weights(t), { data } = run;
  return csv([["id", data.names[0], data.names[1], "label", "weight", "margin"], ...data.ids.map((id, k) => [id, data.x[k], data.y[k], data.label[k], weights?.[k], round?.margins[k]])]);
}

export function takeView(lab, lanes) {
  const t = () => Math.min(lab.state.round, lab.run().done);
  const name = (what, kind) => `pacboost-${lab.run().spec.data.kind}-${LETTERS[lab.state.selected]}-round-${t()}-${what}.${kind}`;

  function link() {
    const address = recording ? location.href : `${location.origin}/#${pack(lab.state)}`;
    const box = h("textarea", { readonly: true, rows: 4, id: "link-text", "aria-label": "Link" });
    box.value = address;
    openDialog("A link to all of this", h("p", { class: "small" }, "It contains the data, the edits, all runs and the round. It works on every computer where `pacboost lab` runs on this port; CSV files must be opened there again."), box,
      h("div", { class: "row" }, h("button", { class: "first", onclick: () => toClipboard(address, "Link copied.") }, "Copy")));
    box.select();
  }

  async function code() {
    const run = lab.run();
    try {
      const found = await ask("code", { run: run.spec, rounds: Math.max(1, t()) });
      openDialog("The code of this run", h("p", { class: "small" }, `This Python gives the same numbers as the page.${found.needs?.length ? ` It needs ${found.needs.join(", ")}.` : ""}`),
        h("pre", { tabindex: 0, id: "code-text" }, found.code), h("div", { class: "row" }, h("button", { class: "first", onclick: () => toClipboard(found.code, "Code copied.") }, "Copy"), h("button", { onclick: () => download(name("code", "py"), found.code, "text/x-python") }, "Save as a file")));
    } catch (problem) { notice(problem.message, "error"); }
  }

  async function page() {
    notice("Recording the run …");
    try {
      const runs = lab.state.lanes.map((lane, k) => ({ run: copy(lane.run), rounds: Math.max(1, lab.run(k).done) }));
      const html = await offline({ title: `pacboost lab: ${lab.run().spec.data.kind}`, state: copy(lab.state), runs, surface: 48 });
      download("pacboost-lab.html", html, "text/html");
    } catch (problem) { notice(problem.message, "error"); }
  }

  function save() {
    const lane = lanes()[lab.state.selected];
    const item = (title, words, task) => h("button", { dataset: { save: title }, onclick: task }, h("b", {}, title), h("span", {}, words));
    openDialog("Save", h("div", { class: "choices" },
      item("PNG", "the picture of the points as it is now", () => lane.picture.canvas.toBlob((blob) => download(name("picture", "png"), blob, "image/png"))),
      item("SVG picture", "the points, the rule and the ground, to be scaled", () => download(name("picture", "svg"), pictureSvg(lane.picture, lane.words()), "image/svg+xml")),
      item("SVG errors", "the chart of errors, to be scaled", () => download(name("errors", "svg"), chartSvg(lane.errors.svg, "Error by round"), "image/svg+xml")),
      item("SVG margins", "the chart of margins, to be scaled", () => download(name("margins", "svg"), chartSvg(lane.margins.svg, "Margins of the points"), "image/svg+xml")),
      item("CSV rounds", "one row per round, all numbers of the record", () => download(name("rounds", "csv"), roundsCsv(lab.run()), "text/csv")),
      item("CSV points", "one row per point: place, label, weight, margin", () => download(name("points", "csv"), pointsCsv(lab.run(), t()), "text/csv")),
      recording ? null : item("Offline page", "this recording as one HTML file that can be scrubbed without a server", page)));
  }
  return { link, code, save, page };
}
