import { formatPlace } from '../../addresses/place.ts';
import type { Link, Sentence } from '../format/sentence.ts';

/** A link to a page. */
export function To({ text, place, title }: Link) {
  return (
    <a href={formatPlace(place)} title={title}>
      {text}
    </a>
  );
}

/** A text with its links, and with its folds closed. */
export function Linked({ of }: { of: Sentence }) {
  return <>{of.map(toPart)}</>;
}

function toPart(part: Sentence[number], index: number) {
  if (typeof part === 'string') return part;
  if ('place' in part) return <To key={index} {...part} />;
  return (
    <details key={index} class="fold">
      <summary>{part.text}</summary> <Linked of={part.all} />
    </details>
  );
}
