import type { JetStreamAccountStats, StreamInfo } from '@nats-io/jetstream';

/** How full the store of an account is. Both figures count every copy of a stream. */
interface AccountStore {
  readonly usedBytes: number;
  /** Null without a limit. */
  readonly limitBytes: number | null;
}

/**
 * Returns the use of an account's store and its limit. An account with limits for each number of replicas is as full as the fullest of them.
 */
export function measureAccount({ storage, limits, tiers }: JetStreamAccountStats): AccountStore {
  const limited = Object.entries(tiers ?? { '': { storage, limits } })
    .map(([tier, of]) => ({
      usedBytes: of.storage,
      // The limit of `R3` counts one copy.
      limitBytes: of.limits.max_storage * Number(/\d+$/.exec(tier)?.[0] ?? 1),
    }))
    .filter(({ limitBytes }) => limitBytes > 0)
    .sort((a, b) => b.usedBytes / b.limitBytes - a.usedBytes / a.limitBytes);
  return limited[0] ?? { usedBytes: storage, limitBytes: null };
}

/**
 * Returns the bytes that streams take on the server that holds most of them: each server holds at most one copy of a stream.
 *
 * @param usedBytes of all streams of the account, with every copy. Streams that are not listed count as if they were spread evenly.
 */
export function measureFullestServer(streams: readonly StreamInfo[], usedBytes: number): number {
  const bytes = new Map<string, number>();
  for (const { state, cluster } of streams)
    for (const server of [cluster?.leader ?? '', ...(cluster?.replicas ?? []).map(({ name }) => name)])
      bytes.set(server, (bytes.get(server) ?? 0) + state.bytes);
  return Math.max(usedBytes / Math.max(bytes.size, 1), ...bytes.values());
}
