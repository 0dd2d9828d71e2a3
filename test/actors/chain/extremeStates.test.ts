import { expect, it } from 'vitest';
import { emptySpanFoldState } from '../../../actors/chain/fold/spanFoldState.ts';
import { createChainRestoration, encodeSpanFold } from '../../../actors/chain/records/chainSnapshot.ts';
import { listKeys } from '../../../actors/schemas/listKeys.ts';
import { buildEconomyEvents, buildState, plainEconomy } from '../../support/chain/economyState.ts';

/** Of other sizes they make no state: rounds follow each other, and a token's ID counts tokens. */
const counted: readonly string[] = ['previousRound', 'settledRound', 'tokenId'];
/** What somebody may have set, of as many bits as its contract gives it. */
const members = listKeys(plainEconomy).filter(
  (key) => typeof plainEconomy[key] === 'bigint' && !counted.includes(key),
);

it.each(members)('a state is restored as it was saved, however large its %s is', (member) => {
  for (const value of [0n, 2n ** 53n + 1n, 2n ** 64n - 1n, 2n ** 256n - 1n]) {
    const built = buildState(buildEconomyEvents({ [member]: value }));
    // Events of the core are made up here without their arguments.
    const safe = { ...built, core: { ...built.core, events: [], source: null } };
    const state = {
      ...emptySpanFoldState,
      head: safe.block,
      safe: [safe],
      reversible: [safe.block.number],
    };
    const restoration = createChainRestoration();
    for (const record of encodeSpanFold({ state, newestSpanAtMs: 0 })) restoration.add(record);
    const restored = restoration.complete().state.safe.at(-1);
    for (const part of ['core', 'governance', 'mining', 'collection', 'token'] as const)
      expect([value, part, restored?.[part]]).toEqual([value, part, safe[part]]);
  }
});
