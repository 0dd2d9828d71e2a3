import assert from 'node:assert/strict';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chainRecords } from '../../../actors/chain/records/chainRecords.ts';
import { collectOwners } from '../../../actors/chain/records/collectOwners.ts';
import type { OwnerEvent } from '../../../actors/chain/state/ownerState.ts';
import { dispatchRecords } from '../../../actors/foldRecord.ts';
import type { Address } from '../../../actors/schemas/hex.ts';
import { stateContracts, stateOwner } from '../../support/chain/economyState.ts';
import { buildClaim } from '../../support/chain/ownerEvents.ts';
import { runs } from '../../support/propertyRuns.ts';

const appends = ['append', 'append', 'append'];
const owners = [stateOwner, stateContracts.mining, stateContracts.core] as const;

describe('owners of a snapshot', () => {
  it('have the tokens, events and counts that the last records of each name give, or are refused', () => {
    const change = fc.record({
      owner: fc.constantFrom(...owners),
      do: fc.constantFrom(...appends, ...['rewind', 'evict', 'bringBack', 'change', 'count', 'token']),
      number: fc.nat(3),
      isOlder: fc.constantFrom(false, false, false, true),
    });
    fc.assert(
      fc.property(
        fc.array(change, { maxLength: 24, size: 'max' }),
        fc.option(fc.nat(60)),
        (changes, rows) => {
          const collected = collectOwners();
          const add = dispatchRecords(...collected.readers);
          const tokens = new Map<number, string>();
          const counts = new Map<string, number>();
          const events = new Map(owners.map((owner) => [owner as string, new Map<number, OwnerEvent>()]));
          for (const [index, { owner, do: what, number, isOlder }] of changes.entries()) {
            const own = events.get(owner) as Map<number, OwnerEvent>;
            const [first = number, last = number - 1] = [
              Math.min(...own.keys()),
              Math.max(...own.keys()),
            ].filter(Number.isFinite);
            const put = (at: number) => {
              const event = buildClaim(
                { blockNumber: BigInt(isOlder ? index : 30 + index) },
                { from: owner },
              );
              own.set(at, event);
              add(chainRecords.activity.write(`${owner}/${at}`, structuredClone(event)));
            };
            const drop = (at: number) => {
              own.delete(at);
              add(chainRecords.activity.writeChange(`${owner}/${at}`, undefined));
            };
            if (what === 'append') put(last + 1);
            else if (what === 'rewind') drop(last);
            else if (what === 'evict') drop(first);
            else if (what === 'bringBack') put(Math.max(0, first - 1 - (number % 2)));
            else if (what === 'change') put(first + number);
            else if (what === 'count') {
              counts.set(owner, number);
              add(chainRecords.activityCount.writeChange(owner, number === 0 ? undefined : number));
            } else {
              const position = {
                ...{ tokenId: number, owner, ownershipStartedAtMs: 1, level: 1, pending: null },
                ...{ nextMergeBlock: 0n, segments: [], paidBaseUnits: 0n },
              };
              tokens.set(number, isOlder ? '' : owner);
              add(chainRecords.position.writeChange(number, isOlder ? undefined : position));
            }
          }
          const sorted = [...events].map(([owner, own]) => ({
            owner,
            numbers: [...own.keys()].sort((a, b) => a - b),
            own,
          }));
          const missing = sorted.flatMap(({ owner, numbers: [first = 0, ...rest] }) => {
            const gap = rest.findIndex((number, index) => number !== first + index + 1);
            return gap === -1 ? [] : [`activity of ${owner} ${first + gap + 1} is missing`];
          });
          if (missing.length > 0) {
            assert.throws(
              () => collected.complete(null),
              ({ message }: Error) => missing.includes(message),
            );
            return;
          }
          const logged = sorted
            .flatMap(({ owner, numbers, own }) =>
              numbers.map((eventNumber) => ({
                blockNumber: own.get(eventNumber)?.source.blockNumber as bigint,
                ...{ owner, eventNumber },
              })),
            )
            .sort((a, b) => Number(a.blockNumber - b.blockNumber));
          const rowsThroughBlock = rows === null ? null : BigInt(rows);
          const { owners: found, minerPositions, activityProgress } = collected.complete(rowsThroughBlock);
          for (const { owner, numbers, own } of sorted) {
            const tokenIds = [0, 1, 2, 3].filter((tokenId) => tokens.get(tokenId) === owner);
            const activityCount = (numbers.at(-1) ?? (counts.get(owner) ?? 0) - 1) + 1;
            const known = found.get(owner as Address);
            const isKnown = tokenIds.length + activityCount > 0;
            assert.deepEqual(
              known === undefined ? known : { ...known, activity: known.activity.toArray() },
              isKnown
                ? { tokenIds, activityCount, activity: numbers.map((number) => own.get(number)) }
                : undefined,
            );
          }
          assert.deepEqual(
            [...minerPositions].map(([tokenId, { owner }]) => [tokenId, owner]).sort(),
            [...tokens].filter(([, owner]) => owner !== '').sort(),
          );
          const rowCount = logged.filter(
            ({ blockNumber }) => blockNumber <= (rowsThroughBlock ?? -1n),
          ).length;
          assert.deepEqual(
            { ...activityProgress, logged: activityProgress.logged.toArray() },
            { rowsThroughBlock, logged, rowCount },
          );
        },
      ),
      { numRuns: runs(500) },
    );
  });

  it('log the sender of a transfer before its receiver', () => {
    const collected = collectOwners();
    const add = dispatchRecords(...collected.readers);
    const [sender, receiver] = owners;
    for (const owner of [receiver, sender])
      add(
        chainRecords.activity.write(
          `${owner}/0`,
          buildClaim({ blockNumber: 3n }, { from: sender, to: receiver }),
        ),
      );
    const { logged } = collected.complete(null).activityProgress;
    expect(logged.map(({ owner }) => owner).toArray()).toEqual([sender, receiver]);
  });
});
