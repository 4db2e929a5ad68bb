declare module "@sabaki/sgf" {
  export function parse(text: string): unknown[];
  export function stringify(nodes: unknown[], options?: { linebreak?: string }): string;
}
