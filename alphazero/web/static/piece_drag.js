// A piece dragged from square to square with mouse, pen or finger.

import { pieceAt } from "./board_pieces.js";

const LEAST_PX = 6; // a press that moves less is a click

export class PieceDrag {
  /**
   * @param drawing the <svg> of the board; @param layer the part of it that holds the piece
   * @param size of a cell
   * @param cellAt returns [row, column] at a place on the screen, else null
   * @param onDrop called with the cell where the piece was let go, null beyond the board
   */
  constructor({ drawing, layer, size, cellAt, onDrop }) {
    Object.assign(this, { drawing, layer, size, cellAt, onDrop, piece: null });
  }

  /**
   * Take a piece up as soon as the pointer moves.
   * @param color of the piece
   * @param onLift called with true when it is taken up, with false when it is let go
   */
  press(event, color, onLift) {
    const { clientX: x, clientY: y } = event;
    const stop = new AbortController();
    const listen = (name, listener) =>
      window.addEventListener(name, listener, { signal: stop.signal });
    const finish = () => {
      stop.abort();
      if (this.piece) onLift(false);
      this.piece?.remove();
      this.piece = null;
    };
    listen("pointermove", (now) => {
      if (!this.piece && Math.hypot(now.clientX - x, now.clientY - y) < LEAST_PX) return;
      if (!this.piece) this.#take(color, onLift);
      this.#place(now);
    });
    listen("pointerup", (now) => {
      const isDropped = this.piece !== null;
      finish();
      if (isDropped) this.#drop(now);
    });
    listen("pointercancel", finish);
  }

  #take(color, onLift) {
    onLift(true);
    this.piece = pieceAt({ x: 0, y: 0, size: this.size }, color);
    this.piece.classList.add("is-dragged");
    this.layer.append(this.piece);
  }

  #place({ clientX, clientY }) {
    const place = new DOMPoint(clientX, clientY);
    const { x, y } = place.matrixTransform(this.drawing.getScreenCTM().inverse());
    this.piece.setAttribute("transform", `translate(${x} ${y})`);
  }

  #drop({ clientX, clientY }) {
    // The click that follows where a piece returns to its square is no choice of a square.
    const swallow = (click) => click.stopPropagation();
    window.addEventListener("click", swallow, { capture: true, once: true });
    setTimeout(() => window.removeEventListener("click", swallow, { capture: true }));
    this.onDrop(this.cellAt(clientX, clientY));
  }
}
