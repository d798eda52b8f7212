// A line chart in SVG: axes with names, curves and bands, a cursor that reads all curves at once.

import { h, s, framed } from "lab/dom.js";
import { linear, logarithmic } from "lab/scale.js";

const EDGE = { left: 46, right: 14, top: 10, bottom: 36 };

const path = (x, y, xs, ys, step) => {
  let text = "", pen = false, before = 0;
  for (let k = 0; k < xs.length; k++) {
    if (ys[k] === null || ys[k] === undefined || Number.isNaN(ys[k])) { pen = false; continue; }
    const across = x(xs[k]).toFixed(1), down = y(ys[k]).toFixed(1);
    if (!pen) text += `M${across} ${down}`;
    else if (step) text += `H${across}V${down}`;
    else if (down !== before || k === xs.length - 1 || xs.length < 400) text += `L${across} ${down}`;
    pen = true; before = down;
  }
  return text;
};

const area = (x, y, xs, low, high) => {
  const there = xs.map((_, k) => k).filter((k) => low[k] !== null && high[k] !== null && low[k] !== undefined);
  if (there.length < 1) return "";
  const up = there.map((k) => `${x(xs[k]).toFixed(1)} ${y(high[k]).toFixed(1)}`);
  const down = there.reverse().map((k) => `${x(xs[k]).toFixed(1)} ${y(low[k]).toFixed(1)}`);
  return `M${up.join("L")}L${down.join("L")}Z`;
};

/**
 * Make a chart. Give names of axes, and optionally: height, log ("y"), write (a number of the y axis as
 * text), pick (called with x when the user points at it), readings (show values in the key).
 */
export function lineChart({ title, xName, yName, height = 230, log = false, logX = false, write, writeX, pick, level = "h3", note, wholeX = false }) {
  const key = h("ul", { class: "key" });
  const svg = s("svg", { class: "chart", role: "img", "aria-label": `${title ?? "Chart"}: nothing drawn yet.` });
  const axes = s("g"), curves = s("g"), top = s("g");
  const cursor = s("line", { class: "cursor", visibility: "hidden" });
  const dots = s("g");
  svg.append(axes, curves, top, cursor, dots);
  const figure = h("figure", { class: "panel chart-panel" },
    title ? h(level, {}, title) : null, note ? h("p", { class: "small" }, note) : null, key, svg);
  let given = null, wide = 0, at = null, x = null, y = null, frame = "", names = "";

  const size = () => { wide = Math.round(figure.clientWidth - parseFloat(getComputedStyle(figure).paddingLeft || 0) * 2); };

  function scales() {
    const [left, right] = given.xRange, [low, high] = given.yRange;
    const flat = given.log ?? log, flatX = given.logX ?? logX;
    x = (flatX ? logarithmic : linear)(left, right, EDGE.left, wide - EDGE.right);
    y = (flat ? logarithmic : linear)(low, high, height - EDGE.bottom, EDGE.top);
  }

  function drawAxes() {
    const now = JSON.stringify([wide, height, given.xRange, given.yRange, given.log, given.logX, given.yName, given.xName]);
    if (now === frame) return;
    frame = now;
    svg.setAttribute("viewBox", `0 0 ${wide} ${height}`);
    svg.setAttribute("width", wide);
    svg.setAttribute("height", height);
    const bottom = height - EDGE.bottom, right = wide - EDGE.right;
    const texts = [], lines = [];
    const form = given.write ?? write ?? y.text;
    for (const tick of y.ticks(4)) {
      const place = y(tick);
      lines.push(s("line", { class: "grid", x1: EDGE.left, x2: right, y1: place, y2: place }));
      texts.push(s("text", { class: "tick", x: EDGE.left - 7, y: place + 4, "text-anchor": "end" }, form(tick)));
    }
    const formX = writeX ?? x.text;
    const shown = x.ticks(Math.max(2, Math.floor(wide / 90))).filter((tick) => !wholeX || Number.isInteger(tick));
    for (const tick of shown) {
      lines.push(s("line", { class: "axis", x1: x(tick), x2: x(tick), y1: bottom, y2: bottom + 4 }));
      texts.push(s("text", { class: "tick", x: x(tick), y: bottom + 17, "text-anchor": "middle" }, formX(tick)));
    }
    lines.push(s("line", { class: "axis", x1: EDGE.left, x2: right, y1: bottom, y2: bottom }));
    texts.push(s("text", { class: "tick name", x: right, y: height - 3, "text-anchor": "end" }, given.xName ?? xName));
    axes.replaceChildren(...lines, ...texts);
  }

  function drawCurves() {
    const wanted = given.series.map((one) => `${one.name}|${one.tone}|${one.dash ?? ""}|${one.band ? 1 : 0}|${one.quiet ?? ""}`).join("\n");
    if (wanted !== names) {
      names = wanted;
      curves.replaceChildren(...given.series.flatMap((one) => [
        one.low ? s("path", { class: `band ${one.tone}` }) : s("path", { visibility: "hidden" }),
        s("path", { class: `curve ${one.tone} ${one.dash ?? ""} ${one.thin ? "thin" : ""}` }),
      ]));
      dots.replaceChildren(...given.series.map((one) => s("circle", { class: `dot ${one.tone}`, r: 3.5, visibility: "hidden" })));
      key.replaceChildren(...given.series.filter((one) => !one.quiet).map((one) => h("li", {},
        h("i", { class: `mark ${one.tone} ${one.dash ?? ""}` }), h("span", {}, one.name), h("b", {}))));
    }
    given.series.forEach((one, k) => {
      if (one.low) curves.children[2 * k].setAttribute("d", area(x, y, one.x, one.low, one.high));
      curves.children[2 * k + 1].setAttribute("d", path(x, y, one.x, one.y, one.step));
    });
    top.replaceChildren(...(given.marks ?? []).map((mark) => mark.spot ? s("circle", { class: `dot ${mark.tone}`, r: 5.5, cx: x(mark.x), cy: y(mark.y) }) : s("g", {},
      mark.x !== undefined ? s("line", { class: `guide ${mark.tone ?? ""}`, x1: x(mark.x), x2: x(mark.x), y1: EDGE.top, y2: height - EDGE.bottom })
        : s("line", { class: `guide ${mark.tone ?? ""}`, x1: EDGE.left, x2: wide - EDGE.right, y1: y(mark.y), y2: y(mark.y) }),
      mark.text ? s("text", { class: "tick halo", x: mark.x !== undefined ? x(mark.x) + (mark.left ? -5 : 5) : wide - EDGE.right - 2,
        y: mark.x !== undefined ? EDGE.top + 9 : y(mark.y) - 5, "text-anchor": mark.x !== undefined && !mark.left ? "start" : "end" }, mark.text) : null)));
  }

  const nearest = (xs, value) => {
    let low = 0, high = xs.length - 1;
    while (high - low > 1) { const middle = (low + high) >> 1; if (xs[middle] <= value) low = middle; else high = middle; }
    return Math.abs(xs[high] - value) <= Math.abs(xs[low] - value) ? high : low;
  };

  function drawCursor() {
    const there = at !== null && given && at >= given.xRange[0] && at <= given.xRange[1];
    cursor.setAttribute("visibility", there ? "visible" : "hidden");
    if (there) {
      const place = x(at).toFixed(1);
      cursor.setAttribute("x1", place); cursor.setAttribute("x2", place);
      cursor.setAttribute("y1", EDGE.top); cursor.setAttribute("y2", height - EDGE.bottom);
    }
    let item = 0;
    given?.series.forEach((one, k) => {
      const place = there && one.x.length ? nearest(one.x, at) : -1;
      const value = place >= 0 ? one.y[place] : null;
      const fits = value !== null && value !== undefined && !one.noDot && !given.noDots && Math.abs(one.x[place] - at) < 0.51;
      dots.children[k].setAttribute("visibility", fits ? "visible" : "hidden");
      if (fits) { dots.children[k].setAttribute("cx", x(one.x[place]).toFixed(1)); dots.children[k].setAttribute("cy", y(value).toFixed(1)); }
      if (one.quiet) return;
      key.children[item++].lastChild.textContent = one.reading !== undefined ? one.reading
        : fits ? (given.write ?? write ?? y.text)(value) : "";
    });
  }

  function redraw() {
    if (!given) return;
    if (!wide) size();
    if (wide < 60) return;
    scales(); drawAxes(); drawCurves(); drawCursor();
  }

  new ResizeObserver(framed(() => { const before = wide; size(); if (wide !== before) redraw(); })).observe(figure);

  if (pick) {
    let held = false;
    const read = (event) => {
      const box = svg.getBoundingClientRect();
      pick(x.back((event.clientX - box.left) * wide / box.width), held);
    };
    svg.classList.add("pick");
    svg.addEventListener("pointerdown", (event) => { if (!given) return; held = true; svg.setPointerCapture(event.pointerId); read(event); });
    svg.addEventListener("pointermove", (event) => { if (held) read(event); });
    svg.addEventListener("pointerup", () => { held = false; });
    svg.addEventListener("pointercancel", () => { held = false; });
  }

  return {
    element: figure, svg,
    /** Draw curves: series of {name, tone, dash, x, y, low, high}, xRange, yRange, marks, text. */
    draw(next) { given = next; if (next.text) svg.setAttribute("aria-label", next.text); redraw(); },
    /** Move the cursor line. */
    cursor(value, text) { at = value; if (text) svg.setAttribute("aria-label", text); if (given && wide >= 60 && x) drawCursor(); },
    resize() { wide = 0; frame = ""; redraw(); },
  };
}
