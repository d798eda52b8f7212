// The picture in the middle: points with areas by weight, the vote's surface, and a round's rule, on a canvas.

import { h, framed, colours, channels } from "lab/dom.js";
import { linear } from "lab/scale.js";
import { attachInput } from "lab/stage_input.js";

const EDGE = { left: 38, right: 10, top: 10, bottom: 34 };
const TAU = 2 * Math.PI;

/** The radius of a point of average weight, when n points share the picture. */
const baseRadius = (n, wide) => Math.max(2.2, Math.min(12, 0.55 * wide / Math.sqrt(n + 12) / 4.2));

/** Draw the shape of a class: a disc for plus, a diamond for minus. */
function shape(pen, plus, x, y, r) {
  if (plus) { pen.moveTo(x + r, y); pen.arc(x, y, r, 0, TAU); }
  else { const d = r * 1.22; pen.moveTo(x, y - d); pen.lineTo(x + d, y); pen.lineTo(x, y + d); pen.lineTo(x - d, y); pen.closePath(); }
}

function sign(pen, plus, x, y, r, colour) {
  pen.strokeStyle = colour; pen.lineWidth = Math.max(1.3, r * 0.2); pen.lineCap = "round";
  pen.beginPath(); pen.moveTo(x - r * 0.45, y); pen.lineTo(x + r * 0.45, y);
  if (plus) { pen.moveTo(x, y - r * 0.45); pen.lineTo(x, y + r * 0.45); }
  pen.stroke();
}

/** Segments where a grid crosses zero, by marching squares; places in units of cells. */
export function zeroLines(values, columns, rows) {
  const found = [];
  const share = (a, b) => (a === b ? 0.5 : a / (a - b));
  for (let j = 0; j + 1 < rows; j++) {
    for (let i = 0; i + 1 < columns; i++) {
      const a = values[j * columns + i], b = values[j * columns + i + 1];
      const c = values[(j + 1) * columns + i + 1], d = values[(j + 1) * columns + i];
      const kind = (a > 0) | ((b > 0) << 1) | ((c > 0) << 2) | ((d > 0) << 3);
      if (kind === 0 || kind === 15) continue;
      const south = [i + share(a, b), j], east = [i + 1, j + share(b, c)];
      const north = [i + share(d, c), j + 1], west = [i, j + share(a, d)];
      const pairs = { 1: [west, south], 14: [west, south], 2: [south, east], 13: [south, east], 3: [west, east], 12: [west, east],
        4: [east, north], 11: [east, north], 6: [south, north], 9: [south, north], 7: [west, north], 8: [west, north],
        5: [west, north, south, east], 10: [west, south, east, north] }[kind];
      for (let k = 0; k < pairs.length; k += 2) found.push([pairs[k], pairs[k + 1]]);
    }
  }
  return found;
}

/** Borders between cells of different sign, as few long lines as possible; places in units of cells. */
export function cellLines(values, columns, rows) {
  const found = [], plus = (i, j) => values[j * columns + i] > 0;
  for (let i = 0; i + 1 < columns; i++) {
    for (let j = 0, from = -1; j <= rows; j++) {
      const on = j < rows && plus(i, j) !== plus(i + 1, j);
      if (on && from < 0) from = j;
      if (!on && from >= 0) { found.push([[i + 0.5, from - 0.5], [i + 0.5, j - 0.5]]); from = -1; }
    }
  }
  for (let j = 0; j + 1 < rows; j++) {
    for (let i = 0, from = -1; i <= columns; i++) {
      const on = i < columns && plus(i, j) !== plus(i, j + 1);
      if (on && from < 0) from = i;
      if (!on && from >= 0) { found.push([[from - 0.5, j + 0.5], [i - 0.5, j + 0.5]]); from = -1; }
    }
  }
  return found;
}

const borders = (grid) => (grid.smooth ? zeroLines : cellLines)(grid.values, grid.columns, grid.rows);

/** Make a stage. Events go to `on`: hover, paint, move, erase, flip, cut, cutEnd. */
export function stage({ label, on = {} }) {
  const canvas = h("canvas", { tabindex: 0, role: "img", "aria-label": label, class: "stage" });
  const bubble = h("div", { class: "bubble", hidden: true });
  const frame = h("div", { class: "stage-frame" }, canvas, bubble);
  const pen = canvas.getContext("2d");
  const soil = document.createElement("canvas");
  let scene = null, wide = 0, high = 0, x = null, y = null, tones = colours(), tool = "look";
  let hovered = -1, tween = null, shown = null, keyAt = null, surfaceKey = null, lines = [];

  function fit() {
    const box = frame.getBoundingClientRect();
    wide = Math.round(box.width); high = Math.round(box.width * (scene?.ratio ?? 0.86));
    const scale = window.devicePixelRatio || 1;
    canvas.width = wide * scale; canvas.height = high * scale;
    canvas.style.height = `${high}px`;
    pen.setTransform(scale, 0, 0, scale, 0, 0);
  }

  function scales() {
    const [left, right, low, top] = scene.box;
    x = linear(left, right, EDGE.left, wide - EDGE.right);
    y = linear(low, top, high - EDGE.bottom, EDGE.top);
  }

  /** The lowest left node of a grid and the distances between nodes; nodes lie on the edges of its box. */
  function nodes(grid) {
    const [left, right, low, top] = grid.box ?? scene.box;
    return { x0: x(left), y0: y(low), dx: (x(right) - x(left)) / (grid.columns - 1), dy: (y(low) - y(top)) / (grid.rows - 1) };
  }

  function surface() {
    const { grid } = scene;
    if (!grid) return;
    if (surfaceKey !== grid.values) {
      surfaceKey = grid.values;
      soil.width = grid.columns; soil.height = grid.rows;
      const ink = soil.getContext("2d"), image = ink.createImageData(grid.columns, grid.rows);
      const plus = channels(tones.blue), minus = channels(tones.red);
      for (let j = 0; j < grid.rows; j++) {
        for (let i = 0; i < grid.columns; i++) {
          const value = grid.values[j * grid.columns + i], tone = value > 0 ? plus : minus;
          const place = 4 * ((grid.rows - 1 - j) * grid.columns + i);
          image.data[place] = tone[0]; image.data[place + 1] = tone[1]; image.data[place + 2] = tone[2];
          image.data[place + 3] = value === 0 ? 0 : 255 * (0.07 + 0.3 * Math.min(1, Math.abs(value)));
        }
      }
      ink.putImageData(image, 0, 0);
      lines = borders(grid);
    }
    const { x0, y0, dx, dy } = nodes(grid);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(soil, x0 - dx / 2, y0 - dy * (grid.rows - 0.5), dx * grid.columns, dy * grid.rows);
    pen.strokeStyle = tones.ink; pen.globalAlpha = 0.55; pen.lineWidth = 1.2; pen.beginPath();
    for (const [[ax, ay], [bx, by]] of lines) { pen.moveTo(x0 + ax * dx, y0 - ay * dy); pen.lineTo(x0 + bx * dx, y0 - by * dy); }
    pen.stroke(); pen.globalAlpha = 1;
  }

  function axes() {
    pen.font = `11px ${getComputedStyle(canvas).fontFamily}`;
    pen.fillStyle = tones.soft; pen.strokeStyle = tones.rule; pen.lineWidth = 1;
    const bottom = high - EDGE.bottom;
    pen.strokeRect(EDGE.left + 0.5, EDGE.top + 0.5, wide - EDGE.right - EDGE.left, bottom - EDGE.top);
    pen.textAlign = "center";
    for (const tick of x.ticks(5)) pen.fillText(x.text(tick), x(tick), bottom + 14);
    pen.textAlign = "right";
    for (const tick of y.ticks(5)) pen.fillText(y.text(tick), EDGE.left - 6, y(tick) + 4);
    pen.fillText(scene.names[0], wide - EDGE.right, high - 4);
    pen.textAlign = "left";
    pen.save(); pen.translate(10, EDGE.top); pen.rotate(-Math.PI / 2); pen.textAlign = "right";
    pen.fillText(scene.names[1], 0, 0); pen.restore();
  }

  function cutLine(cut, strong) {
    const bottom = high - EDGE.bottom, right = wide - EDGE.right;
    const upright = cut.feature === 0, place = upright ? x(cut.threshold) : y(cut.threshold);
    const plusAfter = cut.sign > 0;
    for (const side of [1, -1]) { // a soft band on each side says which class the rule gives there
      const tone = (side > 0) === plusAfter ? tones.blue : tones.red;
      const far = 26 * side * (upright ? 1 : -1);
      const fade = upright ? pen.createLinearGradient(place, 0, place + far, 0) : pen.createLinearGradient(0, place, 0, place + far);
      const [r, g, b] = channels(tone);
      fade.addColorStop(0, `rgba(${r},${g},${b},${strong ? 0.5 : 0.38})`); fade.addColorStop(1, `rgba(${r},${g},${b},0)`);
      pen.fillStyle = fade;
      if (upright) pen.fillRect(Math.min(place, place + far), EDGE.top, 26, bottom - EDGE.top);
      else pen.fillRect(EDGE.left, Math.min(place, place + far), right - EDGE.left, 26);
    }
    pen.strokeStyle = tones.ink; pen.lineWidth = strong ? 3 : 2; pen.beginPath();
    if (upright) { pen.moveTo(place, EDGE.top); pen.lineTo(place, bottom); } else { pen.moveTo(EDGE.left, place); pen.lineTo(right, place); }
    pen.stroke();
    const where = upright ? [[place - 13, EDGE.top + 14, !plusAfter], [place + 13, EDGE.top + 14, plusAfter]]
      : [[right - 14, place + 13, !plusAfter], [right - 14, place - 13, plusAfter]];
    for (const [across, down, plus] of where) {
      if (across < EDGE.left + 4 || across > right - 4 || down < EDGE.top + 4 || down > bottom - 4) continue;
      pen.fillStyle = tones.card; pen.beginPath(); pen.arc(across, down, 9, 0, TAU); pen.fill();
      sign(pen, plus, across, down, 9, plus ? tones.blue : tones.red);
    }
  }

  function ruleLines(grid) {
    const { x0, y0, dx, dy } = nodes(grid);
    pen.strokeStyle = tones.ink; pen.lineWidth = 2; pen.setLineDash([6, 4]); pen.beginPath();
    for (const [[ax, ay], [bx, by]] of borders(grid)) { pen.moveTo(x0 + ax * dx, y0 - ay * dy); pen.lineTo(x0 + bx * dx, y0 - by * dy); }
    pen.stroke(); pen.setLineDash([]);
  }

  const radius = (k) => {
    const n = scene.xs.length, weights = shown ?? scene.weights;
    const share = weights ? weights[k] * n : 1;
    return Math.max(1.3, Math.min(0.06 * wide, baseRadius(n, wide) * Math.sqrt(share)));
  };

  function points() {
    const n = scene.xs.length;
    const order = scene.order ?? (scene.order = [...Array(n).keys()]);
    const many = n > 150; // one path for all points of a kind is much quicker than one for each
    for (const plus of [true, false]) {
      pen.fillStyle = plus ? tones.blue : tones.red; pen.strokeStyle = tones.card; pen.lineWidth = 1;
      for (const small of [true, false]) {
        pen.beginPath();
        pen.globalAlpha = small ? 0.55 : 0.9;
        for (const k of order) {
          const r = radius(k);
          if ((scene.labels[k] > 0) !== plus || (r < 2) !== small) continue;
          if (!many) pen.beginPath();
          shape(pen, plus, x(scene.xs[k]), y(scene.ys[k]), r);
          if (!many) { pen.fill(); if (!small) pen.stroke(); }
        }
        if (many) { pen.fill(); if (!small && n <= 600) pen.stroke(); }
      }
      pen.globalAlpha = 0.9;
      for (const k of order) if ((scene.labels[k] > 0) === plus && radius(k) > 6.5) sign(pen, plus, x(scene.xs[k]), y(scene.ys[k]), radius(k), tones.card);
    }
    pen.globalAlpha = 1;
    if (scene.wrong) {
      pen.strokeStyle = tones.ink; pen.lineWidth = n > 80 ? 1 : 1.6; pen.globalAlpha = n > 80 ? 0.75 : 1;
      pen.beginPath();
      for (const k of order) if (scene.wrong[k]) { const r = radius(k) + 3.2, across = x(scene.xs[k]); pen.moveTo(across + r, y(scene.ys[k])); pen.arc(across, y(scene.ys[k]), r, 0, TAU); }
      pen.stroke();
      pen.globalAlpha = 1;
    }
    for (const [list, tone] of [[scene.marked ?? [], tones.gold]]) {
      pen.strokeStyle = tone; pen.lineWidth = 2.5;
      for (const k of list) if (k < n) { pen.beginPath(); pen.arc(x(scene.xs[k]), y(scene.ys[k]), radius(k) + 6, 0, TAU); pen.stroke(); }
    }
    if (hovered >= 0 && hovered < n) {
      pen.strokeStyle = tones.ink; pen.lineWidth = 2.5; pen.beginPath();
      pen.arc(x(scene.xs[hovered]), y(scene.ys[hovered]), radius(hovered) + 5, 0, TAU); pen.stroke();
    }
    if (keyAt && document.activeElement === canvas) {
      pen.strokeStyle = tones.ink; pen.lineWidth = 1.5; pen.setLineDash([3, 3]); pen.beginPath();
      pen.moveTo(x(keyAt[0]), EDGE.top); pen.lineTo(x(keyAt[0]), high - EDGE.bottom);
      pen.moveTo(EDGE.left, y(keyAt[1])); pen.lineTo(wide - EDGE.right, y(keyAt[1])); pen.stroke(); pen.setLineDash([]);
    }
  }

  function paint() {
    if (!scene) return;
    if (!wide) fit();
    if (wide < 40) return;
    scales();
    pen.clearRect(0, 0, wide, high);
    pen.fillStyle = tones.card; pen.fillRect(EDGE.left, EDGE.top, wide - EDGE.right - EDGE.left, high - EDGE.bottom - EDGE.top);
    pen.save(); pen.beginPath(); pen.rect(EDGE.left, EDGE.top, wide - EDGE.right - EDGE.left, high - EDGE.bottom - EDGE.top); pen.clip();
    surface();
    for (const [[left, right, low, top], tone] of scene.boxes ?? []) {
      pen.strokeStyle = tones[tone]; pen.lineWidth = 2; pen.setLineDash(tone === "soft" ? [6, 4] : []);
      pen.strokeRect(x(left), y(top), x(right) - x(left), y(low) - y(top)); pen.setLineDash([]);
    }
    if (scene.ruleGrid) ruleLines(scene.ruleGrid);
    if (scene.cut) cutLine(scene.cut, false);
    if (scene.always) { // a rule that gives one class everywhere: a frame in its colour
      pen.strokeStyle = scene.always > 0 ? tones.blue : tones.red; pen.globalAlpha = 0.55; pen.lineWidth = 12;
      pen.strokeRect(EDGE.left, EDGE.top, wide - EDGE.right - EDGE.left, high - EDGE.bottom - EDGE.top); pen.globalAlpha = 1;
    }
    points();
    if (scene.own) cutLine(scene.own, true);
    pen.restore();
    axes();
  }
  const draw = framed(paint);

  /** Animate the weights from the last ones to the new ones. */
  function glide(from, to, time) {
    const start = performance.now();
    cancelAnimationFrame(tween);
    const move = (now) => {
      const part = Math.max(0, Math.min(1, (now - start) / time)), smooth = part * part * (3 - 2 * part);
      shown = part < 1 ? from.map((value, k) => value + (to[k] - value) * smooth) : null;
      paint();
      if (part < 1) tween = requestAnimationFrame(move);
    };
    tween = requestAnimationFrame(move);
  }

  function nearest([across, down], reach = 14) {
    let best = -1, least = Infinity;
    for (let k = 0; k < scene.xs.length; k++) {
      const away = Math.hypot(x(scene.xs[k]) - across, y(scene.ys[k]) - down) - radius(k);
      if (away < reach && away < least) { least = away; best = k; }
    }
    return best;
  }

  function bubbleAt(k) {
    bubble.hidden = k < 0 || !scene.tell;
    if (bubble.hidden) return;
    bubble.replaceChildren(...scene.tell(k));
    const across = x(scene.xs[k]), down = y(scene.ys[k]);
    bubble.style.left = `${Math.min(Math.max(across, 80), wide - 80)}px`;
    bubble.style.top = `${down > high / 2 ? down - radius(k) - 8 : down + radius(k) + 8}px`;
    bubble.classList.toggle("below", down <= high / 2);
  }

  function hover(k) {
    if (k === hovered) return;
    hovered = k; bubbleAt(k); draw(); on.hover?.(k);
  }

  attachInput(canvas, on, {
    hover, nearest, draw, tool: () => tool, scene: () => scene, hovered: () => hovered,
    ready: () => Boolean(scene && x), keyAt: (next) => { if (next !== undefined) keyAt = next; return keyAt; },
    pixel: ([across, up]) => [x(across), y(up)],
    place: (event) => { const box = canvas.getBoundingClientRect(); return [(event.clientX - box.left) * wide / box.width, (event.clientY - box.top) * high / box.height]; },
    value: ([across, down]) => {
      const [left, right, low, top] = scene.box;
      return [Math.min(right, Math.max(left, x.back(across))), Math.min(top, Math.max(low, y.back(down)))];
    },
  });

  new ResizeObserver(framed(() => { if (Math.round(frame.getBoundingClientRect().width) !== wide) { fit(); paint(); } })).observe(frame);

  return {
    element: frame, canvas,
    /** Show a scene: box, names, xs, ys, labels, weights, wrong, grid, ruleGrid, cut, own, tell. */
    show(next, { smooth = 0 } = {}) {
      const before = scene?.weights, same = before && next.weights && before.length === next.weights.length;
      if (scene && scene.ratio !== next.ratio) wide = 0;
      scene = next; shown = null; cancelAnimationFrame(tween);
      if (hovered >= next.xs.length) hovered = -1;
      if (next.text) canvas.setAttribute("aria-label", next.text);
      if (smooth && same && before !== next.weights) glide(shown ?? before, next.weights, smooth); else draw();
      if (hovered >= 0 && x) bubbleAt(hovered);
    },
    hover(k) { hovered = k; if (scene && x) bubbleAt(k); draw(); },
    tool(name) { tool = name; keyAt = null; canvas.dataset.tool = name; draw(); },
    recolour() { tones = colours(); surfaceKey = null; draw(); },
    /** The position of a value on the screen, for tests and arrows of stories. */
    at(across, up) { const box = canvas.getBoundingClientRect(); return [box.left + x(across) * box.width / wide, box.top + y(up) * box.height / high]; },
    now: () => scene, radius, ground: () => soil.toDataURL(),
  };
}
