// What every view is given.

import type { Parameters } from "./address";
import type { App } from "./page";

export type { App };

/** `parameters`: those of the view in the address, with `keepParameters` as it shall be. */
export type ViewProps = { app: App; parameters: Parameters };
