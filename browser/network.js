// Makes the network of a file of this project, in the safetensors format.

import { PatternNetwork } from "./pattern_network.js";
import { WindowNetwork } from "./window_network.js";

const KINDS = { patterns: PatternNetwork, windows: WindowNetwork };

/** Return a network whose `evaluate` maps a state of a game to {logits, value}. */
export function makeNetwork(buffer, rules) {
  const size = Number(new DataView(buffer).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 8, size)));
  const { __metadata__: metadata, ...entries } = header;
  const arrays = {}; // Float32Array by name
  for (const [name, { dtype, data_offsets: offsets }] of Object.entries(entries)) {
    if (dtype !== "F32") continue; // a counter of learning
    const [start, end] = offsets.map((offset) => 8 + size + offset);
    arrays[name] = new Float32Array(buffer.slice(start, end));
  }
  const settings = JSON.parse(JSON.parse(metadata.alphazero).network);
  return new KINDS[settings.kind](arrays, rules);
}
