// What every view is given.

import type { Parameters } from "./address";
import type { App } from "./page";

export type { App };

/** What a view of the game is given; it keeps parameters of its own in the address. */
export interface ViewProps {
  app: App;
  parameters: Parameters;
  rewrite: (parameters: Parameters) => void;
}
