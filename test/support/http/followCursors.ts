const pagesMax = 10_000;

/**
 * Yields the pages of a list by following cursors.
 *
 * @param read reads the page after a cursor; the first page if it is undefined.
 * @throws Error if a cursor repeats or there are too many, because such a list would never end.
 */
export async function* followCursors<Page extends { readonly nextCursor?: string | null }>(
  read: (cursor: string | null) => Promise<Page>,
): AsyncGenerator<Page, void> {
  const seen = new Set<string | null>();
  for (let cursor: string | null = null; !seen.has(cursor) && seen.size < pagesMax; ) {
    seen.add(cursor);
    const page: Page = await read(cursor);
    yield page;
    cursor = page.nextCursor ?? null;
    if (cursor === null) return;
  }
  throw new Error(`a list does not end after ${seen.size} pages`);
}
