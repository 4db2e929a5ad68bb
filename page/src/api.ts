// What the server answers: the addresses under `api/`, as alphazero/web/app.py has them, as far as
// the page reads it.
//
// Values are for the player to move unless a field says otherwise. A cell is 0 (empty), 1 (side 0)
// or 2 (side 1). Sides are 0 and 1; side 0 moves first.

export type Side = 0 | 1;

/** A player of the catalogue. */
export interface Player {
  id: string;
  name: string;
  kind: "network" | "uct" | "solver" | "random" | "own";
  max_simulations: number;
  note: string;
}

/** A player as a request names it. */
export type Asked = { id: string; num_simulations?: number };

export interface Level {
  id: string;
  name: string;
  player: Asked;
  elo: number | null;
  elo_stderr: number | null;
}

/** How a game looks and is written in one of its set-ups. */
export interface Setup {
  id: string;
  label: string;
  sides: [string, string];
  /** Of the pieces of both sides, and of a blocked square. */
  colors: [string, string, string];
  action_texts: string[];
  /** What stands between the moves of a list. */
  separator: string;
  column_names: string[];
  row_names: string[];
  letters: string;
  mirrored: boolean;
}

export interface Game {
  name: string;
  title: string;
  /** In one or two sentences; "" where they are not stated. */
  rules: string;
  rows: number;
  columns: number;
  action_kind: "column" | "square" | "move" | "other";
  /** For action_kind "move": flat indices of the squares that each action touches. */
  action_squares: number[][] | null;
  style: string;
  has_lines: boolean;
  counts_pieces: boolean;
  setups: Setup[];
  /** The position before the first move of the first set-up. */
  start?: PositionAnswer;
  players: Player[];
  levels: Level[];
  analyst: Required<Asked> | null;
}

export interface Catalogue {
  games: Game[];
  default_game: string;
}

/** A position as requests have it. */
export interface PositionRequest {
  game: string;
  setup?: string;
  board?: string;
  to_move?: number;
  moves: number[] | string;
}

export interface Position {
  ply: number;
  cells: number[][];
  to_move: Side;
  legal: number[];
  forced_pass: boolean;
  over: boolean;
  winner: Side | null;
  /** Cells of the last move, or of the line that won. */
  marked: [number, number][];
  counts: [number, number];
  board: string;
  /** The position as its rules draw it, for games whose board says too little. */
  drawn: string | null;
  /** What the legal moves are called, for games in which that depends on the position. */
  legal_texts: string[] | null;
}

export interface PositionAnswer {
  moves: number[];
  /** From the position after `from_ply` moves on. */
  positions: Position[];
}

export type ExactAnswer =
  | {
      known: true;
      value: number;
      /** By action; null where it is illegal. */
      scores: (number | null)[];
      values: (number | null)[];
      meaning: string;
    }
  | { known: false; reason: string };

export type MoveMessage = { type: "move"; action: number };

/** `note` says what takes time before the first simulation, such as loading a network. */
export type ProgressMessage = { type: "progress"; done: number; total: number; note?: string };

/** What a search knows of a move. */
interface Statistics {
  visits: number;
  prior: number | null;
  value: number | null;
  proven: number | null;
}

export interface TreeNode extends Statistics {
  id: number;
  parent: number | null;
  action: number | null;
  to_move: Side;
  num_children: number;
}

export interface AnalysisMessage {
  type: "analysis";
  final: boolean;
  total: number;
  num_simulations: number;
  value: number | null;
  proven: number | null;
  best: number;
  actions: (Statistics & { action: number })[];
  line: number[];
  network: { value: number | null; best: number } | null;
  tree: TreeNode[];
}

/** What a review says of one position and the move played there. */
export interface PlyMessage {
  type: "ply";
  ply: number;
  /** For side 0. */
  value: number | null;
  exact: boolean;
  best: number | null;
  played: number | null;
  /** What the move lost, for the side that made it, in results: 0 to 2. */
  loss: number | null;
  /** How far its exact score is below the best one; null if that is not known. */
  score_loss: number | null;
  /** If it lost something: the line that begins with the best move, and the answer to this one. */
  better: number[];
  answer: number[];
}

export type StreamMessage =
  MoveMessage | ProgressMessage | AnalysisMessage | PlyMessage | { type: "done" };

/** A run in the list that `api/live` pushes. */
export interface RunSummary {
  id: string;
  game: string;
  name: string;
  /** Whether its networks can play here. */
  playable: boolean;
  /** Rows of metrics so far, one for each iteration. */
  num_rows: number;
  iterations: number;
  hours: number;
  /** When it last grew, in seconds since 1970. */
  updated: number;
  /** Whether a process is training it now. */
  training: boolean;
  accuracy: number | null;
  elo: number | null;
  /** Whether the newest iteration is not the last one of the run. */
  unfinished: boolean;
  /** Alarms that are active in the newest iteration. */
  alarms: string[];
  /** Those that are stored, the newest first. */
  networks: { player: string; iteration: number }[];
}

export interface RunList {
  runs: RunSummary[];
  damaged: { id: string; error: string }[];
}

/** A figure over the rows of a run; null where a row does not have it. */
export interface Curve {
  name: string;
  y: (number | null)[];
  /** The 95% interval, where it is known. */
  low?: (number | null)[];
  high?: (number | null)[];
}

export type Chart = { title: string; y_label: string; from_zero: boolean; curves: Curve[] };

/** The rows of a run: the answer of `api/run`. */
export interface RunRows {
  id: string;
  x: { iterations: number[]; games: (number | null)[]; hours: (number | null)[] };
  charts: Chart[];
  /** When alarms began or ended. */
  alarms: { iteration: number; began: boolean; text: string }[];
  /** Every setting by its dotted name, such as learner.learning_rate. */
  settings: Record<string, unknown>;
  /** The command that goes on with the run, null if nothing is stored for that. */
  resume: string | null;
}

/** How requests are answered while they run. */
export interface Watch<M extends StreamMessage = StreamMessage> {
  signal?: AbortSignal;
  onMessage?: (message: M) => void;
}

type Stream<R, M extends StreamMessage> = (request: R, watch: Watch<M>) => Promise<void>;
export type SearchRequest = PositionRequest & { player?: Asked };

/** What the server knows of a position. */
export interface Analysis {
  exact(request: PositionRequest, watch?: { signal?: AbortSignal }): Promise<ExactAnswer>;
  analyse: Stream<SearchRequest, AnalysisMessage | ProgressMessage>;
  review: Stream<SearchRequest, StreamMessage>;
}

/** Who answers: a server, or a worker in the browser, which only plays. */
export interface Backend {
  games(): Promise<Catalogue>;
  position(request: PositionRequest & { from_ply?: number }): Promise<PositionAnswer>;
  positions(requests: PositionRequest[]): Promise<PositionAnswer[]>;
  move: Stream<SearchRequest, MoveMessage | ProgressMessage>;
  analysis?: Analysis;
  runs?: {
    /** Call back with the list of runs now and whenever it changes, until the signal aborts. */
    live(signal: AbortSignal, onList: (list: RunList) => void): void;
    rows(id: string): Promise<RunRows>;
  };
}
