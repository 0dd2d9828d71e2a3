import type { Clock } from '../../../actors/clock.ts';
import { findDay } from '../../explorer/days.ts';
import { formatInteger } from '../../explorer/format/numbers.ts';
import type { FeedEvent, ReadBody } from '../../explorer/page.ts';
import type { Place } from '../../explorer/place.ts';
import { corePath, issuancePath, metadataPath, statisticsPath } from '../../explorer/resources.ts';
import { countBlocks, findGenesisMs } from '../../explorer/rounds.ts';
import { describeMissing, describeUnknownDay, type Known } from '../../explorer/search.ts';

/** The records that exist now. */
export function readKnown(read: ReadBody, clock: Clock): Known {
  const body = read('core', corePath);
  const issuance = read('issuance', issuancePath);
  const statistics = read('statistics', statisticsPath('30d'));
  const core = body?.status === 'available' ? body : null;
  const genesisMs = findGenesisMs(body);
  // The statistics show days before the first round and the first reading, too.
  const starts = [statistics?.window.startAt, statistics?.lifetime.firstObservedAt];
  const startsMs = starts.flatMap((start) => (start == null ? [] : [Date.parse(start)]));
  const collection = issuance?.status === 'available' ? issuance.collection : undefined;
  return {
    nowMs: clock.nowMs(),
    genesisMs,
    blockHeight: core && countBlocks(core.core.cumulativeBlockUnits),
    ethereumBlocks: core && [BigInt(core.chain.deploymentBlock), BigInt(core.chain.safeThroughBlock)],
    firstDay: startsMs.length === 0 ? null : findDay(Math.min(...startsMs, genesisMs ?? Infinity)),
    mayBeMiner: (id) => {
      const token = read('metadata', metadataPath(id));
      const isMissing = token?.status === 'unavailable' && token.reason === 'not_yet_safe';
      if (!isMissing || collection === undefined) return true;
      // Miners are numbered in the order of their creation. One of these is gone if it was merged.
      return BigInt(id) <= BigInt(collection.publicMinted) + BigInt(collection.reserveMinted);
    },
  };
}

/** Says that a record does not exist; null if it does, or if that cannot be read at the moment. */
export function findUnknown(
  place: Place,
  events: readonly FeedEvent[] | null,
  readKnown: () => Known,
): Place | null {
  if (!('id' in place) || events === null || events.length > 0) return null;
  const { id } = place;
  switch (place.view) {
    case 'event':
      return describeMissing(
        'No event with this ID is known. It may have been in a block that a reorganization has replaced.',
      );
    case 'miner':
      return readKnown().mayBeMiner(id)
        ? null
        : describeMissing('There is no miner with this number at the safe block.');
    case 'ethereum-block': {
      const { ethereumBlocks } = readKnown();
      if (ethereumBlocks === null) return null;
      const [first, last] = ethereumBlocks;
      if (BigInt(id) < first)
        return describeMissing(
          `The contracts are not in the chain yet in this Ethereum block: they begin with Ethereum block ${formatInteger(String(first))}.`,
        );
      return BigInt(id) <= last
        ? null
        : describeMissing(
            `This Ethereum block is not known yet, or not 12 blocks deep. The newest that counts is Ethereum block ${formatInteger(String(last))}.`,
          );
    }
    case 'day':
      return describeUnknownDay(id, readKnown());
    default:
      return null;
  }
}
