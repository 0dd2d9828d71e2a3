import { usePage } from './pageContext.ts';

interface MoreProps {
  /** Path of the list's first page. */
  readonly path: string;
  /** Cursor of the next page; null on the last page. */
  readonly cursor: string | null;
  readonly text: string;
}

/** Button that reads the next page of a list. Without script it is a link to the page's JSON. */
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
