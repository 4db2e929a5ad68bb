// A piece dragged from square to square with mouse, pen or finger.

import { type Signal, useSignal } from "@preact/signals";
import type { RefObject } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Cell } from "./layout";

const LEAST_PX = 6; // a press that moves less is a click

export interface Drag {
  /** The cell whose piece is in the air. */
  lifted: Cell | null;
  /** Where that piece is, as a transform. */
  place: Signal<string>;
  /** Take up the piece of a cell as soon as the pointer moves. */
  press: (cell: Cell, event: PointerEvent) => void;
}

interface DragOptions {
  /** A drag is given up when it changes. */
  key: string;
  onLift: (cell: Cell) => void;
  /** Called with the place on the screen where the piece is let go. */
  onDrop: (x: number, y: number) => void;
}

export function useDrag(drawing: RefObject<SVGSVGElement | null>, options: DragOptions): Drag {
  const place = useSignal("");
  const [held, setHeld] = useState<{ cell: Cell; key: string } | null>(null);
  const latest = useRef(options); // those of the press are out of date at the drop
  latest.current = options;

  const move = (clientX: number, clientY: number) => {
    const matrix = drawing.current?.getScreenCTM()?.inverse();
    const { x, y } = new DOMPoint(clientX, clientY).matrixTransform(matrix);
    place.value = `translate(${x} ${y})`;
  };
  const press = (cell: Cell, { clientX, clientY }: PointerEvent) => {
    const { key } = options;
    const stop = new AbortController();
    const listen = (name: "pointermove" | "pointerup" | "pointercancel", act: Listener) =>
      window.addEventListener(name, act, { signal: stop.signal });
    let isLifted = false;
    const finish = () => {
      stop.abort();
      setHeld(null);
    };
    listen("pointermove", ({ clientX: x, clientY: y }) => {
      if (!isLifted && Math.hypot(x - clientX, y - clientY) < LEAST_PX) return;
      move(x, y);
      if (isLifted) return;
      isLifted = true;
      setHeld({ cell, key });
      options.onLift(cell);
    });
    listen("pointerup", ({ clientX: x, clientY: y }) => {
      finish();
      if (!isLifted) return;
      swallowClick();
      if (latest.current.key === key) latest.current.onDrop(x, y);
    });
    listen("pointercancel", finish);
  };
  return { lifted: held && held.key === options.key ? held.cell : null, place, press };
}

type Listener = (event: PointerEvent) => void;

/** Take no notice of the click that follows where a piece returns to its square. */
function swallowClick(): void {
  const swallow = (click: Event) => click.stopPropagation();
  window.addEventListener("click", swallow, { capture: true, once: true });
  setTimeout(() => window.removeEventListener("click", swallow, { capture: true }));
}
