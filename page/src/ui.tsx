// The small parts that all views are made of.

import type { ComponentChildren, JSX } from "preact";
import { useId } from "preact/hooks";

type ButtonProps = JSX.IntrinsicElements["button"] & {
  /** What it says, if that is text alone. */
  text?: string;
  /** Announced as disabled, but keeps the focus, which a disabled button would lose. */
  off?: boolean;
};

export function Button({ text, off, onClick, children = text, ...others }: ButtonProps) {
  const state = off ? { "aria-disabled": true } : { onClick };
  return <button type="button" {...state} {...others} children={children} />;
}

/** A part of a view, with what a screen reader calls it. */
export function Card({ label, ...others }: JSX.IntrinsicElements["section"] & { label: string }) {
  return <section aria-label={label} {...others} class={`card ${others.class}`} />;
}

interface ChoiceProps {
  label: string;
  value: string;
  /** [value, text] of each option. */
  options: readonly (readonly [string, string])[];
  onChange: (value: string) => void;
  /** The label is for screen readers alone. */
  bare?: boolean;
}

export function Choice({ label, value, options, onChange, bare }: ChoiceProps) {
  const id = useId();
  const named = bare ? { "aria-label": label } : { id };
  const select = (
    <select {...named} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      {options.map(([one, text]) => (
        <option key={one} value={one} children={text} />
      ))}
    </select>
  );
  if (bare) return select;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {select}
    </div>
  );
}

interface TableProps {
  class: string;
  caption: string;
  /** The first one is that of the names of the rows. */
  columns: string[];
  /** The name of each row, then its cells. */
  rows: ComponentChildren[][];
}

export function Table({ columns, rows, caption, ...others }: TableProps) {
  const head = columns.map((name) => (name ? <th scope="col">{name}</th> : <td />));
  const body = rows.map(([name, ...cells]) => (
    <tr>
      {name && <th scope="row">{name}</th>}
      {cells.map((cell, k) => (
        <td data-label={columns[columns.length - cells.length + k]}>{cell}</td>
      ))}
    </tr>
  ));
  return (
    <table {...others}>
      <caption class="visually-hidden">{caption}</caption>
      <thead>
        <tr>{head}</tr>
      </thead>
      <tbody>{body}</tbody>
    </table>
  );
}

/** Put the focus on the board that is shown; return whether there is one. */
export function focusBoard(): boolean {
  const cell = document.querySelector<HTMLElement>("main [role=grid] [tabindex='0']");
  cell?.focus();
  return cell !== null;
}
