/** Longest answer for a language model, about 8,000 words. */
const answerCharactersMax = 30_000;
/** Longest text that is kept whole in an answer that must be cut: longer than any description, shorter than a token's image. */
const textCharactersMax = 3_000;
/** Numbers of items per list that are tried, in this order. */
const itemsTried = [100, 50, 20, 10, 5, 2, 1, 0];

/** A body as text of bounded length. */
interface CappedAnswer {
  readonly text: string;
  /** What was left out, for example `activity.days: 2 of 7`. */
  readonly cuts: readonly string[];
}

/** Cuts long texts, then the ends of lists, all to the same length, until the answer fits. The result stays JSON. */
export function capAnswer(body: unknown, charactersMax = answerCharactersMax): CappedAnswer {
  const whole = JSON.stringify(body);
  if (whole.length <= charactersMax) return { text: whole, cuts: [] };
  for (const itemsMax of itemsTried) {
    const cuts: string[] = [];
    const text = JSON.stringify(cutMembers(body, itemsMax, '', cuts));
    if (text.length <= charactersMax) return { text, cuts };
  }
  throw new RangeError(`the answer is longer than ${charactersMax} characters without any list`);
}

function cutMembers(value: unknown, itemsMax: number, place: string, cuts: string[]): unknown {
  if (typeof value === 'string' && value.length > textCharactersMax) {
    cuts.push(`${place}: ${textCharactersMax} of ${value.length} characters`);
    // A character may be cut in two.
    return value.slice(0, textCharactersMax).toWellFormed();
  }
  if (Array.isArray(value)) {
    if (value.length > itemsMax) cuts.push(`${place}: ${itemsMax} of ${value.length}`);
    return value
      .slice(0, itemsMax)
      .map((item, index) => cutMembers(item, itemsMax, `${place}.${index}`, cuts));
  }
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      cutMembers(member, itemsMax, place === '' ? name : `${place}.${name}`, cuts),
    ]),
  );
}
