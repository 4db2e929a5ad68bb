// Whether things may move on the page.

/** Return whether the person has asked their system for less motion. */
export function prefersRest(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}
