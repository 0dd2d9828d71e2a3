import type { Place } from '../../reference/index.ts';

/** The members of a page that its next one depends on. */
export interface Page {
  readonly generatedAt?: string;
  readonly chain?: { readonly safeThroughBlock: string };
  readonly nextCursor?: string | null;
  readonly activity?: readonly unknown[];
  readonly positions?: readonly unknown[];
}

type Item = Readonly<Record<string, unknown>>;

const member = (name: string) => (item: Item) => String(item[name]);

/** Lists of pages, each with the name of an item. */
const names: Readonly<Record<string, (item: Item) => string>> = {
  events: member('id'),
  activity: member('id'),
  batches: member('id'),
  checkpoints: member('id'),
  changes: ({ settlement }) => member('id')(settlement as Item),
  rounds: member('roundId'),
  positions: member('tokenId'),
  miners: member('tokenId'),
  owners: member('address'),
};

/** Reads a list from its first page to its last one, or until `read` returns a text; null at the end of the list. */
export async function followPages(
  first: string,
  read: (path: string, place?: Place) => Promise<Page | string>,
): Promise<string | null> {
  let page = await read(first);
  while (typeof page !== 'string' && page.nextCursor != null) {
    const { chain, activity, positions, nextCursor } = page;
    const lists = page as Readonly<Record<string, readonly Item[] | undefined>>;
    const [behind = ''] = Object.entries(names).flatMap(([list, name]) =>
      (lists[list]?.slice(-1) ?? []).map(name),
    );
    // Only the pages of an owner belong to a block.
    const ofBlock = positions ?? activity;
    const atBlock = ofBlock !== undefined && chain ? { atBlock: BigInt(chain.safeThroughBlock) } : {};
    page = await read(`${first}&cursor=${nextCursor}`, { behind, ...atBlock });
  }
  return typeof page === 'string' ? page : null;
}
