// Who plays each side.

export type Seat =
  | { kind: "human" }
  | { kind: "level"; id: string }
  | { kind: "player"; id: string; num_simulations: number | null };
