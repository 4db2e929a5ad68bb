// The address of the page: what is behind its "#" holds all that is shown, so that it can be sent.
//
//     #play/connect_four?moves=4,4,3&first=human&second=level.club
//     #analyse/othello?moves=f5d6c3&ply=2        #runs/connect_four/my_run

const VIEWS = ["play", "analyse", "runs"];

/** Return {view, name, parameters} of a hash; `name` is a game or the id of a run, "" for none. */
export function parseHash(hash) {
  const [path, query = ""] = splitOnce(hash.replace(/^#/, ""), "?");
  const [view, name = ""] = splitOnce(path, "/");
  return {
    view: VIEWS.includes(view) ? view : VIEWS[0],
    name: decode(name),
    parameters: Object.fromEntries(new URLSearchParams(query)),
  };
}

/** Return the hash of a view; parameters that are null or "" are left out. */
export function formatHash(view, name, parameters = {}) {
  const given = Object.entries(parameters).filter(([, value]) => value !== null && value !== "");
  const query = new URLSearchParams(given).toString();
  // These are legible in an address and mean nothing there.
  const readable = query.replaceAll("%2C", ",").replaceAll("%3A", ":").replaceAll("%2F", "/");
  const path = name ? `${view}/${encodeURI(name)}` : view;
  return `#${path}${readable ? `?${readable}` : ""}`;
}

/** Return the parameters of an address that hold a game. */
export function gameParameters(state) {
  const { setup, game, board, toMove, list, ply, moves } = state;
  return {
    setup: setup === game.setups[0] ? null : setup.id,
    board: board === null ? null : board.trim().split(/\r?\n/).join("/"),
    to_move: board === null ? null : (toMove ?? 0),
    moves: list,
    ply: ply === moves.length ? null : ply,
  };
}

/** Return the argument of `GameState.load` for an address. */
export function gameOf(name, { setup, board, to_move: toMove, moves, ply }) {
  return {
    game: name || null,
    setup: setup ?? null,
    board: board === undefined ? null : board.split("/").join("\n"),
    to_move: toMove === undefined ? null : Number(toMove),
    moves: moves ?? [],
    ply: /^\d+$/.test(ply ?? "") ? Number(ply) : null,
  };
}

function splitOnce(text, separator) {
  const place = text.indexOf(separator);
  return place < 0 ? [text] : [text.slice(0, place), text.slice(place + 1)];
}

function decode(text) {
  try {
    return decodeURI(text);
  } catch {
    return text; // a broken "%" in an address typed by hand
  }
}
