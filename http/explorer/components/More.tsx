import { usePage } from './pageContext.ts';

interface MoreProps {
  /** Of the list's first page. */
  readonly path: string;
  /** Where the next page begins; null on the last one. */
  readonly cursor: string | null;
  readonly text: string;
}

/** Reads a further page of a list; without script it is there as data. */
export function More({ path, cursor, text }: MoreProps) {
  const { actions } = usePage();
  if (cursor === null) return null;
  if (actions === null)
    return (
      <p>
        <a href={`${path}${path.includes('?') ? '&' : '?'}cursor=${cursor}`}>{text}, as data</a>
      </p>
    );
  return (
    <button type="button" class="more" onClick={() => actions.loadMore(path, cursor)}>
      {text}
    </button>
  );
}
