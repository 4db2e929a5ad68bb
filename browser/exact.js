// Exact results of tic-tac-toe, by playing every game to its end.

/** Return the answer of `api/exact`. */
export function exactAnswer(rules, state) {
  const scores = Array(rules.numActions).fill(null);
  for (const action of state.legal) scores[action] = -score(rules, rules.step(state, action));
  const values = scores.map((one) => (one === null ? null : Math.sign(one)));
  const value = state.over ? Math.sign(score(rules, state)) : Math.max(...values.filter(isKnown));
  return { known: true, value, scores, values, meaning: "distance" };
}

function isKnown(value) {
  return value !== null;
}

/** Return 0 for a draw, else how early the game is won (positive) or lost, for the side to move. */
function score(rules, state) {
  if (state.over) {
    const left = state.cells.filter((cell) => !cell).length;
    return state.winner === null ? 0 : (state.winner === state.toMove ? 1 : -1) * (left + 1);
  }
  return Math.max(...state.legal.map((action) => -score(rules, rules.step(state, action)) || 0));
}
