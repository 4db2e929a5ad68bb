// What is known of a position: its value in large, then the network alone, the search and perfect
// play side by side, and a sentence if the search has changed the network's mind.

import { element } from "./dom.js";
import { resultText, UNKNOWN, valueText } from "./number_text.js";

const NOTABLE = 0.2; // difference of two values that is worth a sentence

export class Verdict {
  constructor() {
    this.value = element("span", { class: "verdict-value" });
    this.who = element("span", { class: "verdict-who" });
    this.result = element("span", { class: "verdict-result" });
    this.rows = Object.fromEntries(
      ["Network alone", "With search", "Perfect play"].map((name) => [name, new Line(name)]),
    );
    const head = ["", "Value", "Best move"].map((text) =>
      text ? element("th", { scope: "col" }, text) : element("td", {}),
    );
    this.sentence = element("p", { class: "verdict-sentence" });
    const title = "Network alone, with search, perfect play";
    const caption = element("caption", { class: "visually-hidden" }, title);
    const lines = Object.values(this.rows).map((row) => row.element);
    const body = element("tbody", {}, ...lines);
    const top = element("thead", {}, element("tr", {}, ...head));
    this.comparison = element("table", { class: "comparison-table" }, caption, top, body);
    const headline = element("p", { class: "verdict-headline" }, this.value, this.who, this.result);
    this.element = element("div", { class: "verdict" }, headline, this.comparison, this.sentence);
  }

  /**
   * @param position, analysis, exact: the answers of the backend; the last two null: none yet
   * @param sides the names of side 0 and side 1
   * @param textOf maps an action to its text
   */
  update({ position, analysis, exact, sides, textOf }) {
    this.#headline(position, analysis, exact, sides);
    const network = analysis?.network ?? null;
    this.rows["Network alone"].element.hidden = analysis !== null && network === null;
    this.comparison.hidden = position.over;
    this.rows["Network alone"].write(valueText(network?.value), moveText(network?.best, textOf));
    this.rows["With search"].write(valueText(analysis?.value), moveText(analysis?.best, textOf));
    this.rows["Perfect play"].write(...perfect(exact, analysis, textOf));
    const sentence = position.over ? "" : compare(analysis, textOf);
    if (this.sentence.textContent !== sentence) this.sentence.textContent = sentence;
  }

  #headline({ over, winner, to_move: toMove }, analysis, exact, sides) {
    const result = over ? null : ((exact?.known ? exact.value : null) ?? analysis?.proven ?? null);
    if (over) {
      this.value.textContent = winner === null ? "Draw" : `${sides[winner]} has won`;
      this.who.textContent = "";
    } else {
      this.value.textContent = valueText(analysis?.value);
      this.who.textContent = `for ${sides[toMove]}, to move`;
    }
    const source = exact?.known ? "exact" : "proven";
    this.result.textContent = result === null ? "" : `${resultText(result)}, ${source}`;
    this.result.dataset.result = result === null ? "" : resultText(result);
  }
}

class Line {
  constructor(name) {
    this.value = element("td", {});
    this.best = element("td", {});
    const head = element("th", { scope: "row" }, name);
    this.element = element("tr", {}, head, this.value, this.best);
  }

  write(value, best) {
    this.value.textContent = value;
    this.best.textContent = best;
  }
}

function moveText(action, textOf) {
  return action === null || action === undefined ? UNKNOWN : textOf(action);
}

/** Return the result with perfect play, and the moves that keep it. */
function perfect(exact, analysis, textOf) {
  if (!exact?.known) {
    const proven = analysis?.proven ?? null;
    if (proven !== null) return [resultText(proven), textOf(analysis.best)];
    return [exact === null ? UNKNOWN : "not known", UNKNOWN];
  }
  const most = Math.max(...exact.scores.filter((score) => score !== null));
  const best = exact.scores.flatMap((score, action) => (score === most ? [textOf(action)] : []));
  const isLong = best.length > 4;
  const shown = (isLong ? best.slice(0, 3) : best).join(", ") || UNKNOWN;
  return [resultText(exact.value), isLong ? `${shown} and ${best.length - 3} more` : shown];
}

/** Return what the search changed in the network's mind, "" if nothing. */
function compare(analysis, textOf) {
  const { network, value, best, num_simulations: num } = analysis ?? {};
  if (!network || !num || value === null || network.value === null) return "";
  const change = value - network.value;
  const how = change > 0 ? "better" : "worse";
  const size = Math.abs(change).toFixed(2);
  const isOther = best !== network.best;
  const judged = `the position ${size} ${how} than the network alone`;
  if (isOther) {
    const prefers = `The search prefers ${textOf(best)} to the network's ${textOf(network.best)}`;
    return Math.abs(change) >= NOTABLE ? `${prefers} and judges ${judged}.` : `${prefers}.`;
  }
  if (Math.abs(change) >= NOTABLE) return `Same move, but the search judges ${judged}.`;
  return "The network alone and its search agree.";
}
