import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chainRecords } from '../../../actors/chain/records/chainRecords.ts';
import { collectOwners } from '../../../actors/chain/records/collectOwners.ts';
import { dispatchRecords } from '../../../actors/folds/foldRecord.ts';
import type { Address } from '../../../actors/schemas/hex.ts';
import { stateContracts, stateOwner } from '../../support/chain/economyState.ts';
import { buildClaim } from '../../support/chain/ownerEvents.ts';
import { runs } from '../../support/propertyRuns.ts';

const addresses = [stateOwner, stateContracts.mining, stateContracts.core] as const;

const writePosition = (tokenId: number, owner: Address) =>
  chainRecords.position.write(tokenId, {
    ...{ tokenId, owner, ownershipStartedAtMs: 1, level: 1, pending: null },
    ...{ nextMergeBlock: 0n, segments: [], paidBaseUnits: 0n },
  });

describe('owners of a snapshot', () => {
  it('have the tokens, events and counts of the records', () => {
    const owner = fc.record({
      tokenCount: fc.nat(3),
      /** Events before the first one in memory. */
      evictedCount: fc.nat(5),
      /** Blocks between its events. */
      steps: fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 6 }),
    });
    fc.assert(
      fc.property(fc.tuple(owner, owner, owner), fc.option(fc.nat(60)), (described, rows) => {
        const owners = described.map(({ tokenCount, evictedCount, steps }, index) => {
          const address = addresses[index] as (typeof addresses)[number];
          // A block has events of one owner only, so that their order is plain.
          const blocks = steps.map((_, at) => index + 3 * steps.slice(0, at + 1).reduce((a, b) => a + b));
          return {
            address,
            tokenIds: Array.from({ length: tokenCount }, (_, at) => 3 * at + index),
            activity: blocks.map((block) => buildClaim({ blockNumber: BigInt(block) }, { from: address })),
            first: evictedCount,
          };
        });
        const { readers, complete } = collectOwners();
        const add = dispatchRecords(...readers);
        for (const { address, tokenIds, activity, first } of owners) {
          for (const tokenId of tokenIds.toReversed()) add(writePosition(tokenId, address));
          add(chainRecords.owner.write(address, { activityCount: first + activity.length, activity }));
        }
        const rowsThroughBlock = rows === null ? null : BigInt(rows);
        const found = complete(rowsThroughBlock);
        assert.deepEqual(
          owners.map(({ address }) => {
            const known = found.owners.get(address);
            return { ...known, activity: known?.activity.toArray() };
          }),
          owners.map(({ tokenIds, activity, first }) => ({
            ...{ tokenIds, activityCount: first + activity.length, activity },
          })),
        );
        assert.deepEqual(
          [...found.minerPositions.keys()].sort(),
          owners.flatMap(({ tokenIds }) => tokenIds).sort(),
        );
        const pending = owners
          .flatMap(({ address, activity, first }) =>
            activity.map(({ source: { blockNumber } }, at) => ({
              ...{ blockNumber, owner: address, eventNumber: first + at },
            })),
          )
          .filter(({ blockNumber }) => blockNumber > (rowsThroughBlock ?? -1n))
          .sort((a, b) => Number(a.blockNumber - b.blockNumber));
        assert.deepEqual(
          { ...found.activityProgress, pending: found.activityProgress.pending.toArray() },
          { rowsThroughBlock, pending },
        );
      }),
      { numRuns: runs(200) },
    );
  });

  it('are refused without an address, and with positions of others', () => {
    const { readers, complete } = collectOwners();
    const add = dispatchRecords(...readers);
    const nobody = chainRecords.owner.write('nobody', { activityCount: 0, activity: [] });
    expect(() => add(nobody)).toThrow('activity belongs to nobody, which is not an address');
    add(writePosition(1, stateOwner));
    expect(() => complete(null)).toThrow(`${stateOwner} has positions, but no record`);
  });

  it('await rows for the sender of a transfer before its receiver', () => {
    const collected = collectOwners();
    const add = dispatchRecords(...collected.readers);
    const [sender, receiver] = addresses;
    const activity = [buildClaim({ blockNumber: 3n }, { from: sender, to: receiver })];
    for (const owner of [receiver, sender])
      add(chainRecords.owner.write(owner, { activityCount: 1, activity }));
    const { pending } = collected.complete(null).activityProgress;
    expect(pending.map(({ owner }) => owner).toArray()).toEqual([sender, receiver]);
  });
});
