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
  for (const query of ['', '?category=measurement&limit=100', '?category=players&limit=100'])
    await compare(`/v1/events${query}`);
  for (const category of ['all', 'protocol', 'players', 'measurement'])
    await followPages(`/v2/public/events?category=${category}&limit=${limit * 9}`, compare);
}
