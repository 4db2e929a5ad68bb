// What every view is given.

import type { Parameters } from "./address";
import type { App } from "./page";

export type { App };

/** `parameters`: the view's own ones in the address; `app.keepParameters` changes them. */
export type ViewProps = { app: App; parameters: Parameters };
