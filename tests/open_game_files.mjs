// Open game files as the page does, save each and open what was saved.
//
//     node open_game_files.js ADDRESS GAME FILE...
//
// In: the address of a server, the game shown before, the files. Out: JSON, a record of each file.
// It is bundled with the sources of the page first.

import { readFile } from "node:fs/promises";
import { decoded } from "../page/src/game/game_file.ts";
import { GameState, movesOf } from "../page/src/game/game_state.ts";
import { serverBackend } from "../page/src/server_backend.ts";

const [address, game, ...files] = process.argv.slice(2);
const { fetch } = globalThis;
globalThis.fetch = (path, options) => fetch(new URL(path, address), options);
const backend = serverBackend();

async function opened(text, catalogue) {
  const state = new GameState(backend, catalogue);
  await state.load({ game });
  const num = await state.open(text);
  return [state, num];
}

/** Return all that is known of a game: where it starts, its moves as a tree, what is said of it. */
function recordOf({ shown }) {
  const { game, setup, board, toMove, line } = shown.value;
  const tree = ({ action, name, notes, children }) => ({
    move: action === null ? "" : setup.action_texts[action],
    ...(name && { name }),
    ...(notes && { notes }),
    children: children.map(tree),
  });
  const moves = movesOf(line).map((action) => setup.action_texts[action]);
  return { game: game.name, setup: setup.id, board, toMove, moves, tree: tree(line[0]) };
}

async function main() {
  const catalogue = { value: await backend.games() };
  const records = [];
  for (const file of files) {
    try {
      const [state, num] = await opened(decoded(await readFile(file)), catalogue);
      const again = recordOf((await opened(state.file, catalogue))[0]);
      records.push({ num, ...recordOf(state), file: state.file, again });
    } catch (error) {
      records.push({ error: error.message });
    }
  }
  console.log(JSON.stringify(records));
}

main();
