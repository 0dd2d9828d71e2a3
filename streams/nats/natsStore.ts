import type { JetStreamAccountStats } from '@nats-io/jetstream';
import type { AccountStore, StreamInfo } from './streamPort.ts';

/**
 * Returns the use of an account's store and its limit. An account with limits for each number of replicas is as full as the fullest of them.
 */
export function measureAccount({ storage, limits, tiers, streams }: JetStreamAccountStats): AccountStore {
  const limited = Object.entries(tiers ?? { '': { storage, limits } })
    .map(([tier, of]) => ({
      usedBytes: of.storage,
      // The limit of `R3` counts one copy.
      limitBytes: of.limits.max_storage * Number(/\d+$/.exec(tier)?.[0] ?? 1),
    }))
    .filter(({ limitBytes }) => limitBytes > 0)
    .sort((a, b) => b.usedBytes / b.limitBytes - a.usedBytes / a.limitBytes);
  return { storedBytes: storage, streams, ...(limited[0] ?? { usedBytes: storage, limitBytes: null }) };
}

/**
 * Returns the bytes that streams take on the server that holds most of them: each server holds at most one copy of a stream.
 *
 * @param usedBytes of all streams of the account, with every copy. Streams that are not listed count as if they were spread evenly.
 */
export function measureFullestServer(
  streams: readonly Pick<StreamInfo, 'bytes' | 'cluster'>[],
  usedBytes: number,
): number {
  const held = new Map<string, number>();
  for (const { bytes, cluster } of streams)
    for (const server of [cluster?.leader ?? '', ...(cluster?.peers ?? []).map(({ name }) => name)])
      held.set(server, (held.get(server) ?? 0) + bytes);
  return Math.max(usedBytes / Math.max(held.size, 1), ...held.values());
}
