/** The members of a page that its next one depends on. */
export interface Page {
  readonly generatedAt?: string;
  readonly nextCursor?: string | null;
  readonly [member: string]: unknown;
}

/** More than any list of a test has. */
const itemsMax = 100_000;

/** Lists that have pages, by the member that holds them. */
const lists = [
  'events',
  'activity',
  'batches',
  'checkpoints',
  'rounds',
  'positions',
  'miners',
  'owners',
  'items',
];

/**
 * Reads a list from its first page to its last one: the first page with the items of all, or the text that a read returned. Each page but the last is
 * full, and only the first may be empty.
 */
export async function followPages(
  first: string,
  read: (path: string) => Promise<Page | string>,
): Promise<Page | string> {
  const page = await read(first);
  if (typeof page === 'string' || page.nextCursor == null) return page;
  const list = lists.find((name) => name in page) as string;
  const limit = new URL(first, 'http://reference').searchParams.get('limit');
  const items: unknown[] = [];
  for (let next = page; ; ) {
    const shown = next[list] as readonly unknown[];
    items.push(...shown);
    if (next !== page && shown.length === 0) return 'the last page is empty';
    if (next.nextCursor == null) return { ...page, [list]: items };
    if (limit !== null && shown.length !== Number(limit))
      return `a page of ${shown.length} of ${limit} has a next one`;
    if (items.length > itemsMax) return `a list does not end after ${items.length} items`;
    const cursor = `cursor=${next.nextCursor}`;
    const path = first.includes('cursor=') ? first.replace(/cursor=[^&]*/, cursor) : `${first}&${cursor}`;
    const following = await read(path);
    if (typeof following === 'string') return following;
    next = following;
  }
}
