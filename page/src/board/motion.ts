// Whether things may move on the page, and how long they rest.

/** Return whether the person has asked their system for less motion. */
export function prefersRest(): boolean {
  return matchMedia("(prefers-reduced-motion: reduce)").matches;
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
