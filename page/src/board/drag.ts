// A piece dragged from square to square with mouse, pen or finger.

import { useSignal } from "@preact/signals";
import { type RefObject } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Cell } from "./layout";

const LEAST_PX = 6; // a press that moves less is a click

export type Drag = ReturnType<typeof useDrag>;

interface Handlers {
  onLift: (cell: Cell) => void;
  /** Called with the place on the screen where the piece is let go. */
  onDrop: (x: number, y: number) => void;
}

/** Return the cell whose piece is in the air, its transform, and what takes a piece up. */
export function useDrag(drawing: RefObject<SVGSVGElement | null>, handlers: Handlers) {
  const place = useSignal("");
  const [lifted, lift] = useState<Cell | null>(null);
  const latest = useRef(handlers); // those of the press are out of date at the drop
  latest.current = handlers;

  /** Take up the piece of a cell as soon as the pointer moves. */
  const press = (cell: Cell, { clientX, clientY }: PointerEvent) => {
    const stop = new AbortController();
    const { signal } = stop;
    let isLifted = false;
    const finish = () => {
      stop.abort();
      lift(null);
    };
    const onMove = ({ clientX: x, clientY: y }: PointerEvent) => {
      if (!isLifted && Math.hypot(x - clientX, y - clientY) < LEAST_PX) return;
      const at = new DOMPoint(x, y).matrixTransform(drawing.current?.getScreenCTM()?.inverse());
      place.value = `translate(${at.x} ${at.y})`;
      if (!isLifted) handlers.onLift(cell);
      isLifted = true;
      lift(cell);
    };
    const onUp = ({ clientX: x, clientY: y }: PointerEvent) => {
      finish();
      if (!isLifted) return;
      swallowClick();
      latest.current.onDrop(x, y);
    };
    window.addEventListener("pointermove", onMove, { signal });
    window.addEventListener("pointerup", onUp, { signal });
    window.addEventListener("pointercancel", finish, { signal });
  };
  return { lifted, place, press };
}

/** Take no notice of the click that follows where a piece returns to its square. */
function swallowClick(): void {
  const swallow = (click: Event) => click.stopPropagation();
  window.addEventListener("click", swallow, { capture: true, once: true });
  setTimeout(() => window.removeEventListener("click", swallow, { capture: true }));
}
