// The Runs view: the runs on this machine, as they train; several of them compared.

import type { App } from "../app";

export function RunsView(_props: { app: App; id: string; parameters: Record<string, string> }) {
  return null;
}
