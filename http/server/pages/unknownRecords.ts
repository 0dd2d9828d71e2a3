import { formatInteger } from '../../explorer/format/numbers.ts';
import type { ReadBody } from '../../explorer/page.ts';
import type { Place } from '../../explorer/place.ts';
import { listRecordEvents } from '../../explorer/records.ts';
import { describeMissing, describeUnknownDay, type Known } from '../../explorer/search.ts';

/** Says that a record does not exist; null if it does, or if that cannot be read at the moment. */
export function findUnknown(place: Place, read: ReadBody, findKnown: () => Known): Place | null {
  if (!('id' in place)) return null;
  const { view, id } = place;
  if (listRecordEvents(view, id, read)?.length !== 0) return null;
  switch (view) {
    case 'day':
      return describeUnknownDay(id, findKnown());
    case 'ethereum-block':
      return describeUnknownBlock(BigInt(id), findKnown());
    case 'event':
      return describeMissing(
        'No event with this ID is known. It may have been in a block that a reorganization has replaced.',
      );
    case 'miner':
      return findKnown().mayBeMiner(id)
        ? null
        : describeMissing('There is no miner with this number at the safe block.');
    default:
      return null;
  }
}

function describeUnknownBlock(number: bigint, { ethereumBlocks }: Known): Place | null {
  if (ethereumBlocks === null) return null;
  const [first, last] = ethereumBlocks;
  if (number < first)
    return describeMissing(
      `The contracts are not in the chain yet in this Ethereum block: they begin with Ethereum block ${formatInteger(String(first))}.`,
    );
  return number <= last
    ? null
    : describeMissing(
        `This Ethereum block is not known yet, or not 12 blocks deep. The newest that counts is Ethereum block ${formatInteger(String(last))}.`,
      );
}
