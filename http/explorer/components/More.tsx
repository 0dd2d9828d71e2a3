import { formatPlace, type ListName, type ListPlace } from '../../addresses/place.ts';

interface MoreProps {
  readonly place: ListPlace;
  readonly list: ListName;
  /** Cursor of the next page; null on the last page. */
  readonly cursor: string | null;
  readonly text: string;
}

export function More({ place, list, cursor, text }: MoreProps) {
  if (cursor === null) return null;
  return (
    <p class="more">
      <a href={formatPlace({ ...place, earlier: { list, cursor } })}>{text}</a>
    </p>
  );
}

/** The way from a further page of a list to its beginning. */
export function Newest({ place }: { place: ListPlace }) {
  if (place.earlier === undefined) return null;
  const { earlier: _, ...first } = place;
  return (
    <p>
      <a href={formatPlace(first)}>First page</a>
    </p>
  );
}
