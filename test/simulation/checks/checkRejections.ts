import { formatNanos as formatStoredAt } from '../../../streams/nats/nanos.ts';
import type { Rejected } from '../../reference/index.ts';
import type { MemoryStore } from '../nats/memoryStore.ts';
import { formatNanos } from '../nats/storedStream.ts';
import { findDifference, SimulationFailure } from './failure.ts';

interface PublishedRejection {
  readonly streamCreated: string;
  readonly sequence: number;
  readonly reason: string;
  readonly byteLength: number;
  readonly storedAt: string;
  readonly original: string;
}

/**
 * Checks that each rejected message was published once, in the order of the stream. Rejections of lost messages stay published; their bytes and
 * storage times tell them apart.
 */
export function checkRejections(store: MemoryStore, stream: string, expected: readonly Rejected[]): void {
  const source = store.streams.get(stream);
  const log = store.streams.get('MINER_REJECTED');
  if (source === undefined || log === undefined)
    throw new SimulationFailure('rejections', 'a stream is missing');
  const created = formatNanos(source.createdNanos);
  const published = [...log.messages.values()]
    .filter(({ subject }) => subject === `miner.rejected.${stream}`)
    .map(({ data }) => JSON.parse(Buffer.from(data).toString()) as PublishedRejection)
    .filter(({ streamCreated, sequence, original, byteLength, storedAt }) => {
      const message = source.messages.get(sequence) ?? source.retired.get(sequence);
      const bytes = Buffer.from(original, 'base64');
      return (
        streamCreated === created &&
        message !== undefined &&
        storedAt === formatStoredAt(message.timestampNanos) &&
        message.data.length === byteLength &&
        bytes.equals(message.data.subarray(0, bytes.length))
      );
    })
    .map(({ sequence, reason }) => ({ position: sequence, reason }));
  const difference = findDifference(expected, published);
  if (difference !== null) throw new SimulationFailure('rejections', `of ${stream}, ${difference}`);
}
