/** The members of a page that its next one depends on. */
export interface Page {
  readonly generatedAt?: string;
  readonly nextCursor?: string | null;
  readonly [member: string]: unknown;
}

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
  const items = [...(page[list] as readonly unknown[])];
  if (limit !== null && items.length !== Number(limit))
    return `a page of ${items.length} of ${limit} has a next one`;
  const cursor = `cursor=${page.nextCursor}`;
  const next = first.includes('cursor=') ? first.replace(/cursor=[^&]*/, cursor) : `${first}&${cursor}`;
  const rest = await followPages(next, read);
  if (typeof rest === 'string') return rest;
  const following = rest[list] as readonly unknown[];
  return following.length === 0 ? 'the last page is empty' : { ...page, [list]: [...items, ...following] };
}
