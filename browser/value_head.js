// The value head that all networks have.

/** Return the value of logits for win, draw and loss, or of the single one of a scalar head. */
export function expected(logits) {
  if (logits.length === 1) return Math.tanh(logits[0]);
  const weights = logits.map((logit) => Math.exp(logit - Math.max(...logits)));
  return (weights[0] - weights[2]) / (weights[0] + weights[1] + weights[2]);
}
