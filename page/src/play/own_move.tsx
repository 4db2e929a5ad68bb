// What was wrong with the person's last move, said once it was answered, if the person wants that.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { App } from "../app";
import { moveText } from "../format";
import { keep, kept } from "../kept";
import { mistakesOf } from "../review/review";
import { mistakeText } from "../review/texts";
import type { GameFlow } from "./flow";

export function OwnMove({ app, flow }: { app: App; flow: GameFlow }) {
  const { shown } = app.game;
  const { line, setup } = shown.value;
  const isOn = useSignal(kept("judged").length > 0);
  const ply = flow.mayPlay && app.game.isAtEnd ? flow.plyToTakeBackTo() : null;
  const node = ply === null || !isOn.value ? null : line[ply + 1];
  const found = node && app.review.now.value.moves.get(node);
  useEffect(() => {
    const stopper = new AbortController();
    if (node && ply !== null && !found)
      app.review.judge(ply, node.action ?? 0, stopper.signal).catch(() => null);
    return () => stopper.abort();
  }, [node]);
  const choose = (wanted: boolean) => {
    isOn.value = wanted;
    keep("judged", wanted ? [true] : []);
  };
  const text = () => {
    if (!node || ply === null) return "";
    const name = moveText(setup, line[ply].position, node.action ?? 0);
    if (!found) return `Judging ${name} \u2026`;
    const [mistake] = mistakesOf([found]);
    return mistake ? mistakeText(shown.value, mistake, found.side) : `${name} was a good move.`;
  };
  return (
    <div class="own-move">
      <label class="check">
        <input
          type="checkbox"
          checked={isOn.value}
          onChange={({ currentTarget }) => choose(currentTarget.checked)}
        />
        Judge each of my moves
      </label>
      {isOn.value && <p class="mistake-text" aria-live="polite" children={text()} />}
    </div>
  );
}
