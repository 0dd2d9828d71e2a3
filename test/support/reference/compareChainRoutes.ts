import { expect } from 'vitest';
import type { FeedEvent } from '../../reference/feed.ts';
import type { ComparedProgram } from './comparedProgram.ts';

interface Portfolio {
  readonly summary: { readonly paidBaseUnits: string; readonly claimableBaseUnits: string };
}
interface MiningState {
  readonly issuance: { readonly mintedBaseUnits: string };
}

/** Compares every route of the chain, lists in pages of a few items. */
export async function compareChainRoutes(
  { compare }: ComparedProgram,
  owners: readonly string[],
  limit: number,
): Promise<void> {
  for (const path of ['/v1/core', '/v2/public/miners/state', '/v1/mining/state']) await compare(path);
  for (const range of ['now', '24h', '7d', '30d']) {
    await compare(`/v1/settlements?range=${range}`);
    await compare(`/v4/public/settlements?range=${range}`);
  }
  await compare('/v4/public/settlements?queue=1');
  let owed = 0n;
  for (const owner of owners) {
    const { summary } = (await compare(`/v1/owners/${owner}/miners?limit=${limit}`)) as Partial<Portfolio>;
    owed += BigInt(summary?.paidBaseUnits ?? 0) + BigInt(summary?.claimableBaseUnits ?? 0);
    await compare(`/v2/public/miners/portfolio?owner=${owner}&limit=${limit}`);
    // Lists of activity are longer.
    await compare(`/v1/owners/${owner}/activity?limit=${limit * 5}`);
    await compare(`/v2/public/miners/activity?owner=${owner}&limit=${limit * 5}`);
  }
  const { issuance } = (await compare('/v1/mining/state')) as Partial<MiningState>;
  // What was minted is what its owners were paid or can claim, but for parts of a base unit.
  const left = BigInt(issuance?.mintedBaseUnits ?? owed) - owed;
  expect([left >= 0n, left < 10_000n]).toEqual([true, true]);
  await compareRecords(compare, limit);
  for (const category of ['all', 'protocol', 'players', 'measurement'])
    for (const path of ['/v1/events', '/v2/public/events'])
      await compare(`${path}?category=${category}&limit=${limit * 9}`);
}

/** Compares the records of the newest events, and each list of records. */
async function compareRecords(compare: ComparedProgram['compare'], limit: number): Promise<void> {
  // From and to the start of a round, and from beside it.
  for (const times of [
    '',
    '&from=2026-01-31T12:20:00Z&to=2026-01-31T13:00:00Z',
    '&from=2026-01-31T12:20:00.001Z',
  ])
    await compare(`/v1/rounds?limit=${limit * 9}${times}`);
  for (const list of ['batches', 'checkpoints', 'miners', 'owners'])
    await compare(`/v1/${list}?limit=${Math.ceil(limit / 3)}`);
  for (const date of ['2026-01-30', '2026-01-31', '2026-02-03', '2036-02-03'])
    await compare(`/v1/days/${date}`);
  for (const round of [1, 2, 99_999]) await compare(`/v1/rounds/${round}`);
  const { events = [] } = (await compare('/v1/events?limit=100')) as { events?: readonly FeedEvent[] };
  for (const { id, source, payload } of [...events.slice(0, 4), ...events.slice(-1)]) {
    await compare(`/v1/events/${id}`);
    for (const tokenId of [payload.tokenId, payload.survivorTokenId, payload.donorTokenId])
      if (tokenId !== undefined) await compare(`/v1/miners/${tokenId}`);
    if (source.transactionHash !== undefined) await compare(`/v1/transactions/${source.transactionHash}`);
  }
}
