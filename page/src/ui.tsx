// The small parts that all views are made of.

import type { ComponentChildren, JSX } from "preact";
import { useId } from "preact/hooks";

type ButtonProps = JSX.IntrinsicElements["button"] & {
  /** Announced as disabled, but keeps the focus, which a disabled button would lose. */
  off?: boolean;
};

export function Button({ off, onClick, ...others }: ButtonProps) {
  return (
    <button
      type="button"
      aria-disabled={off ? "true" : undefined}
      onClick={off ? undefined : onClick}
      {...others}
    />
  );
}

interface CardProps {
  /** What a screen reader calls it. */
  label: string;
  class: string;
  children: ComponentChildren;
}

export function Card({ label, children, ...others }: CardProps) {
  return (
    <section class={`card ${others.class}`} aria-label={label}>
      {children}
    </section>
  );
}

interface ChoiceProps {
  label: string;
  value: string;
  /** [value, text] of each option. */
  options: (readonly [string, string])[];
  onChange: (value: string) => void;
  /** The label is for screen readers alone. */
  bare?: boolean;
}

/** A <select> with its label. */
export function Choice({ label, value, options, onChange, bare }: ChoiceProps) {
  const id = useId();
  const select = (
    <select
      id={id}
      aria-label={bare ? label : undefined}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      {options.map(([one, text]) => (
        <option key={one} value={one}>
          {text}
        </option>
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
