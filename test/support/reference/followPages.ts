import type { Place } from '../../reference/index.ts';

/** The members of a page that its next one depends on. */
export interface Page {
  readonly generatedAt?: string;
  readonly chain?: { readonly safeThroughBlock: string };
  readonly nextCursor?: string | null;
  readonly activity?: readonly unknown[];
  readonly positions?: readonly unknown[];
}

/** Lists of pages, each with the member that names its items. */
const names = {
  events: 'id',
  activity: 'id',
  batches: 'id',
  checkpoints: 'id',
  rounds: 'roundId',
  positions: 'tokenId',
  miners: 'tokenId',
  owners: 'address',
};

/** Reads a list from its first page to its last one, or until `read` returns a text; null at the end of the list. */
export async function followPages(
  first: string,
  read: (path: string, place?: Place) => Promise<Page | string>,
): Promise<string | null> {
  let page = await read(first);
  while (typeof page !== 'string' && page.nextCursor != null) {
    const { chain, activity, positions, nextCursor } = page;
    const lists = page as Readonly<Record<string, readonly Readonly<Record<string, string>>[] | undefined>>;
    const [[list, name] = ['', '']] = Object.entries(names).filter(([list]) => lists[list] !== undefined);
    const behind = lists[list]?.at(-1)?.[name] ?? '';
    // Only the pages of an owner belong to a block.
    const ofBlock = positions ?? activity;
    const atBlock = ofBlock !== undefined && chain ? { atBlock: BigInt(chain.safeThroughBlock) } : {};
    page = await read(`${first}&cursor=${nextCursor}`, { behind, ...atBlock });
  }
  return typeof page === 'string' ? page : null;
}
