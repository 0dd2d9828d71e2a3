import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chainRecords } from '../../../actors/chain/records/chainRecords.ts';
import { collectOwners } from '../../../actors/chain/records/collectOwners.ts';
import { dispatchRecords } from '../../../actors/foldRecord.ts';
import { stateContracts, stateOwner } from '../../support/chain/economyState.ts';
import { buildClaim } from '../../support/chain/ownerEvents.ts';
import { runs } from '../../support/propertyRuns.ts';

const addresses = [stateOwner, stateContracts.mining, stateContracts.core] as const;

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
          for (const tokenId of tokenIds.toReversed())
            add(
              chainRecords.position.write(tokenId, {
                ...{ tokenId, owner: address, ownershipStartedAtMs: 1, level: 1, pending: null },
                ...{ nextMergeBlock: 0n, segments: [], paidBaseUnits: 0n },
              }),
            );
          for (const [at, event] of activity.entries())
            add(chainRecords.activity.write(`${address}/${first + at}`, structuredClone(event)));
          if (activity.length === 0) add(chainRecords.activityCount.write(address, first));
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

  it('are refused if an event is missing, or belongs to nobody', () => {
    const { readers } = collectOwners();
    const add = dispatchRecords(...readers);
    const write = (key: string) => add(chainRecords.activity.write(key, buildClaim({ blockNumber: 3n })));
    write(`${stateOwner}/4`);
    expect(() => write(`${stateOwner}/6`)).toThrow(`activity of ${stateOwner} 5 is missing`);
    expect(() => write('nobody/0')).toThrow('activity belongs to nobody, which is not an address');
  });

  it('await rows for the sender of a transfer before its receiver', () => {
    const collected = collectOwners();
    const add = dispatchRecords(...collected.readers);
    const [sender, receiver] = addresses;
    for (const owner of [receiver, sender])
      add(
        chainRecords.activity.write(
          `${owner}/0`,
          buildClaim({ blockNumber: 3n }, { from: sender, to: receiver }),
        ),
      );
    const { pending } = collected.complete(null).activityProgress;
    expect(pending.map(({ owner }) => owner).toArray()).toEqual([sender, receiver]);
  });
});
