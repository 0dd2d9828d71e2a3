import type { Link, Sentence } from '../format/sentence.ts';
import { formatPlace } from '../place.ts';

/** A link to a page. */
export function To({ text, place, title }: Link) {
  return (
    <a href={formatPlace(place)} title={title}>
      {text}
    </a>
  );
}

/** A text with its links. */
export function Linked({ of }: { of: Sentence }) {
  return <>{of.map((part, index) => (typeof part === 'string' ? part : <To key={index} {...part} />))}</>;
}
