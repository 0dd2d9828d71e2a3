/**
 * Pages of a list, each behind the cursor of the one before.
 *
 * @param read reads the page behind a cursor; the first one without.
 * @throws Error where a cursor comes twice: nothing would end such a list.
 */
export async function* followCursors<Page extends { readonly nextCursor?: string | null }>(
  read: (cursor: string | null) => Promise<Page>,
): AsyncGenerator<Page, void> {
  const seen = new Set<string | null>();
  for (let cursor: string | null = null; !seen.has(cursor); ) {
    seen.add(cursor);
    const page: Page = await read(cursor);
    yield page;
    cursor = page.nextCursor ?? null;
    if (cursor === null) return;
  }
  throw new Error('a list has the same cursor twice');
}
