import type { Place } from '../../reference/index.ts';

/** The members of a page that its next one depends on. */
export interface Page {
  readonly generatedAt?: string;
  readonly chain?: { readonly safeThroughBlock: string };
  readonly nextCursor?: string | null;
  readonly events?: readonly { readonly id: string }[];
  readonly activity?: readonly { readonly id: string }[];
  readonly positions?: readonly { readonly tokenId: string }[];
}

/** Reads a list from its first page to its last one, or until `read` returns a text; null at the end of the list. */
export async function followPages(
  first: string,
  read: (path: string, place?: Place) => Promise<Page | string>,
): Promise<string | null> {
  let page = await read(first);
  while (typeof page !== 'string' && page.nextCursor != null) {
    const { chain, events, activity, positions, nextCursor } = page;
    const behind = positions?.at(-1)?.tokenId ?? (activity ?? events)?.at(-1)?.id ?? '';
    // The feed's pages belong to no block.
    const atBlock = events === undefined && chain ? { atBlock: BigInt(chain.safeThroughBlock) } : {};
    page = await read(`${first}&cursor=${nextCursor}`, { behind, ...atBlock });
  }
  return typeof page === 'string' ? page : null;
}
