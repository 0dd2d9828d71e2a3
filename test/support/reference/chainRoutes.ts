import type { ComparedProgram } from './comparedProgram.ts';

interface Page {
  readonly status?: string;
  readonly chain?: { readonly safeThroughBlock: string };
  readonly nextCursor?: string | null;
  readonly events?: readonly { readonly id: string }[];
  readonly activity?: readonly { readonly id: string }[];
  readonly positions?: readonly { readonly tokenId: string }[];
}

/** Compares every route of the chain; owners' lists and the feed page by page. */
export async function compareChainRoutes(
  program: ComparedProgram,
  owners: readonly string[],
  limit: number,
): Promise<void> {
  const { compare } = program;
  for (const path of ['/v1/core', '/v2/public/miners/state', '/v1/mining/state']) await compare(path);
  for (const range of ['', '?range=24h', '?range=7d', '?range=30d']) {
    await compare(`/v1/settlements${range}`);
    await compare(`/v4/public/settlements${range}`);
  }
  await compare('/v4/public/settlements?queue=1');
  for (const owner of owners) {
    for (const list of [`/v1/owners/${owner}/miners?`, `/v1/owners/${owner}/activity?`])
      await comparePages(program, `${list}limit=${limit}`);
    for (const list of ['portfolio', 'activity'])
      await comparePages(program, `/v2/public/miners/${list}?owner=${owner}&limit=${limit}`);
  }
  for (const tokenId of [1, 2, 3, 9_999]) {
    await compare(`/v1/miners/${tokenId}/metadata`);
    for (const query of program.hasChain ? ['', '?release=release-1'] : [''])
      await compare(`/v2/public/miners/metadata/${tokenId}${query}`);
  }
  for (const query of ['', '?category=measurement&limit=100', '?category=players&limit=100'])
    await compare(`/v1/events${query}`);
  for (const category of ['all', 'protocol', 'players', 'measurement'])
    await comparePages(program, `/v2/public/events?category=${category}&limit=${limit * 3}`);
}

/** Follows the cursors of a list to its end. */
async function comparePages({ compare }: ComparedProgram, first: string): Promise<void> {
  let page = (await compare(first)) as Page;
  while (page.nextCursor != null) {
    const behind = page.positions?.at(-1)?.tokenId ?? (page.activity ?? page.events)?.at(-1)?.id ?? '';
    // The feed's pages belong to no block.
    const atBlock = page.events === undefined ? { atBlock: BigInt(page.chain?.safeThroughBlock ?? 0) } : {};
    page = (await compare(`${first}&cursor=${page.nextCursor}`, { behind, ...atBlock })) as Page;
  }
}
