// Pointer and keyboard input on the picture: look, paint, move, erase, flip, and drag a cut.

import { number } from "lab/dom.js";

/** Listen to a canvas; `on` receives events, `view` has positions and points. */
export function attachInput(canvas, on, view) {
  let held = null;
  const sign = () => (view.tool() === "plus" ? 1 : -1);
  const paints = () => view.tool() === "plus" || view.tool() === "minus";

  canvas.addEventListener("pointerdown", (event) => {
    if (!view.ready() || event.button > 0) return;
    const tool = view.tool(), here = view.place(event), near = view.nearest(here, tool === "erase" || tool === "flip" ? 10 : 6);
    try { canvas.setPointerCapture(event.pointerId); } catch { /* the pointer is gone already */ }
    if (paints()) { held = { last: here }; on.paint?.(view.value(here), sign()); }
    else if (tool === "move" && near >= 0) held = { point: near };
    else if (tool === "erase") { held = { erase: true }; if (near >= 0) on.erase?.(near); }
    else if (tool === "flip" && near >= 0) on.flip?.(near);
    else if (tool === "rule") { held = { rule: true }; on.cut?.(view.value(here)); }
    if (held) event.preventDefault();
  });

  canvas.addEventListener("pointermove", (event) => {
    if (!view.ready()) return;
    const here = view.place(event);
    if (!held) { view.hover(view.tool() === "rule" || paints() ? -1 : view.nearest(here)); return; }
    if (held.point !== undefined) on.move?.(held.point, view.value(here), false);
    else if (held.rule) on.cut?.(view.value(here));
    else if (held.last && Math.hypot(here[0] - held.last[0], here[1] - held.last[1]) > 16) { held.last = here; on.paint?.(view.value(here), sign()); }
    else if (held.erase) { const near = view.nearest(here, 8); if (near >= 0) on.erase?.(near); }
  });

  const release = (event) => {
    if (held?.point !== undefined && view.ready()) on.move?.(held.point, view.value(view.place(event)), true);
    if (held?.rule) on.cutEnd?.();
    if (held) on.done?.();
    held = null;
  };
  canvas.addEventListener("pointerup", release);
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("pointerleave", () => { if (!held) view.hover(-1); });
  canvas.addEventListener("blur", () => { view.keyAt(null); view.draw(); });

  /** Without a tool, arrows go from point to point, the heaviest first. */
  function lookByKey(forward) {
    const ranked = view.scene().ranked?.() ?? [];
    const next = ranked[Math.max(0, Math.min(ranked.length - 1, ranked.indexOf(view.hovered()) + (forward ? 1 : -1)))];
    if (next !== undefined) { view.hover(next); on.say?.(next); }
  }

  /** With a tool, arrows move a cross. */
  function moveCross([across, up], far) {
    const [left, right, low, top] = view.scene().box, stride = far ? 0.1 : 0.02;
    const from = view.keyAt() ?? [(left + right) / 2, (low + top) / 2];
    const to = view.keyAt([Math.min(right, Math.max(left, from[0] + across * stride * (right - left))), Math.min(top, Math.max(low, from[1] + up * stride * (top - low)))]);
    if (held?.point !== undefined) on.move?.(held.point, to, false);
    if (view.tool() === "rule") on.cut?.(to);
    on.where?.(to.map((one) => number(one, 2)));
  }

  function useTool() {
    const [left, right, low, top] = view.scene().box, tool = view.tool();
    const at = view.keyAt() ?? view.keyAt([(left + right) / 2, (low + top) / 2]);
    const near = view.nearest(view.pixel(at), 40);
    if (paints()) { on.paint?.(at, sign()); on.done?.(); }
    else if (tool === "erase" && near >= 0) { on.erase?.(near); on.done?.(); }
    else if (tool === "flip" && near >= 0) on.flip?.(near);
    else if (tool === "move" && held) { on.move?.(held.point, at, true); held = null; }
    else if (tool === "move" && near >= 0) held = { point: near };
    else if (tool === "rule") on.cutEnd?.();
  }

  canvas.addEventListener("keydown", (event) => {
    if (!view.ready() || event.ctrlKey || event.metaKey || event.altKey) return;
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    const act = event.key === "Enter" || event.key === " ";
    if (view.tool() === "look") {
      if (!way) return;
      lookByKey(way[0] > 0 || way[1] < 0);
    } else if (way) moveCross(way, event.shiftKey);
    else if (act) useTool();
    else return;
    view.draw();
    event.preventDefault(); event.stopPropagation();
  });
}
