// An arrow on a board, from the middle of one cell to that of another.

import { svg } from "./dom.js";

/**
 * Return a <path>.
 * @param from, to boxes of cells; @param width of the shaft, as a part of a cell
 */
export function moveArrow(from, to, width, attributes) {
  const middle = ({ x, y, size }) => [x + size / 2, y + size / 2];
  const [[x, y], [toX, toY]] = [middle(from), middle(to)];
  const length = Math.hypot(toX - x, toY - y);
  const half = (width * from.size) / 2;
  const neck = Math.max(length - 5 * half, 0);
  const corners = [
    [0, half],
    [neck, half],
    [neck, 3 * half],
    [length, 0],
    [neck, -3 * half],
    [neck, -half],
    [0, -half],
  ];
  const turn = (180 / Math.PI) * Math.atan2(toY - y, toX - x);
  const d = `M${corners.map((corner) => corner.join(" ")).join("L")}Z`;
  return svg("path", { ...attributes, d, transform: `translate(${x} ${y}) rotate(${turn})` });
}
