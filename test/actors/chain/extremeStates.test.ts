import { expect, it } from 'vitest';
import { emptySpanFoldState } from '../../../actors/chain/fold/spanFoldState.ts';
import { createChainRestoration, encodeSpanFold } from '../../../actors/chain/records/chainSnapshot.ts';
import { listKeys } from '../../../actors/schemas/listKeys.ts';
import { buildEconomyEvents, buildState, plainEconomy } from '../../support/chain/economyState.ts';

/** Values that cannot be extreme: rounds are consecutive, and token IDs count tokens. */
const counted: readonly string[] = ['previousRound', 'settledRound', 'tokenId'];
/** Values that an account may have set, with all bits of their type. */
const members = listKeys(plainEconomy).filter(
  (key) => typeof plainEconomy[key] === 'bigint' && !counted.includes(key),
);

it.each(members)('a state with a very large %s is restored unchanged', (member) => {
  for (const value of [0n, 2n ** 256n - 1n]) {
    const built = buildState(buildEconomyEvents({ [member]: value }));
    // These events of the core lack arguments.
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
