import type { ComparedProgram } from './comparedProgram.ts';
import { followPages } from './followPages.ts';

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
    // Lists of activity are longer.
    for (const [plainName, publicName, size] of [
      ['miners', 'portfolio', limit],
      ['activity', 'activity', limit * 5],
    ]) {
      await followPages(`/v1/owners/${owner}/${plainName}?limit=${size}`, compare);
      await followPages(`/v2/public/miners/${publicName}?owner=${owner}&limit=${size}`, compare);
    }
  }
  for (const tokenId of [1, 2, 3, 9_999]) {
    await compare(`/v1/miners/${tokenId}/metadata`);
    for (const query of program.hasChain ? ['', '?release=release-1'] : [''])
      await compare(`/v2/public/miners/metadata/${tokenId}${query}`);
  }
  await compareRecords(program, limit);
  for (const query of ['', '?category=measurement&limit=100', '?category=players&limit=100'])
    await compare(`/v1/events${query}`);
  for (const category of ['all', 'protocol', 'players', 'measurement'])
    await followPages(`/v2/public/events?category=${category}&limit=${limit * 9}`, compare);
}

/** Compares the records of the newest events, and each list of records page by page. */
async function compareRecords({ compare, hasChain }: ComparedProgram, limit: number): Promise<void> {
  await followPages(`/v1/rounds?limit=${limit * 9}`, compare);
  for (const list of ['batches', 'checkpoints', 'miners', 'owners'])
    await followPages(`/v1/${list}?limit=${Math.ceil(limit / 3)}`, compare);
  for (const text of ['yesterday', '3', 'round 2', '7', 'nothing', `0x${'ab'.repeat(20)}`, '2026-01-31'])
    await compare(`/v1/search?q=${text}`);
  for (const date of ['2026-01-30', '2026-01-31', '2026-02-03', '2036-02-03'])
    await compare(`/v1/days/${date}`);
  const none = `0x${'0'.repeat(64)}`;
  await compare(`/v1/transactions/${none}`);
  // With a chain, they are not found.
  if (!hasChain) for (const path of ['events/chain:none', 'miners/1']) await compare(`/v1/${path}`);
  for (const round of [1, 2, 99_999]) await compare(`/v1/rounds/${round}`);
  const { events = [] } = (await compare('/v1/events?limit=100')) as { events?: readonly NamedEvent[] };
  for (const { id, source, payload } of [...events.slice(0, 4), ...events.slice(-1)]) {
    await compare(`/v1/events/${id}`);
    for (const tokenId of [payload.tokenId, payload.survivorTokenId, payload.donorTokenId])
      if (tokenId !== undefined) await compare(`/v1/miners/${tokenId}`);
    if (source.transactionHash !== undefined) await compare(`/v1/transactions/${source.transactionHash}`);
  }
}

interface NamedEvent {
  readonly id: string;
  readonly source: { readonly transactionHash?: string };
  readonly payload: Readonly<Record<string, unknown>>;
}
