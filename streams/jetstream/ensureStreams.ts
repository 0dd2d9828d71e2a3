import {
  DiscardPolicy,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream';
import type { Logger } from 'pino';
import { type StreamName, streamSubjects } from '../../actors/messages/subjects.ts';
import { listKeys } from '../../actors/schemas/listKeys.ts';

const nanosPerSecond = 1_000_000_000;
const dedupeWindowNanos = 120 * nanosPerSecond;
const secondsPerDay = 86_400;

export interface StreamSettings {
  /**
   * Messages older than this are removed by the server; 0 keeps all. Spans of the chain are always kept: each is linked to the one before
   * it, so the chain cannot be folded again without the first.
   */
  readonly retentionDays: number;
  /** Copies of each stream, on as many servers of a cluster; without it a new stream has one, and an existing one keeps its own. */
  readonly replicas?: number | null;
}

/**
 * Creates streams, or updates the settings that this service owns and leaves an operator's others (replicas, placement,
 * limits) unchanged. Only a process that ingests may do so: two with different settings would undo each other's.
 */
export async function ensureStreams(
  jsm: JetStreamManager,
  streams: readonly StreamName[],
  settings: StreamSettings,
  logger: Logger,
): Promise<void> {
  for (const stream of streams) {
    const ours = describeSettings(stream, settings);
    const existing = await readConfiguration(jsm, stream);
    const { subjects, max_age: maxAge } = ours;
    if (existing === null) {
      const fixed = { storage: StorageType.File, retention: RetentionPolicy.Limits };
      await jsm.streams.add({ name: stream, ...fixed, ...ours });
      logger.info({ stream, subjects, maxAgeDays: toDays(maxAge) }, 'stream created');
    } else if (differs(existing, ours)) {
      await jsm.streams.update(stream, { ...existing, ...ours });
      logger.info({ stream, subjects, maxAgeDays: toDays(maxAge) }, 'stream settings updated');
    }
  }
}

/** Names what one server of a cluster alone has: while it is unavailable, so is the stream. */
export async function warnOfSingleReplicas(
  jsm: JetStreamManager,
  streams: readonly StreamName[],
  logger: Logger,
): Promise<void> {
  const single: StreamName[] = [];
  for (const stream of streams) {
    const { config, cluster } = await jsm.streams.info(stream);
    // A server of its own is in no cluster.
    if (cluster?.name !== undefined && config.num_replicas === 1) single.push(stream);
  }
  if (single.length > 0)
    logger.warn(
      { streams: single },
      'these streams have one replica in a cluster, and are away while its server is: set MINER_STREAM_REPLICAS=3',
    );
}

/**
 * Checks the streams for a process that only reads or publishes, and logs what an ingest process has to correct.
 *
 * @returns streams that do not exist.
 */
export async function verifyStreams(
  jsm: JetStreamManager,
  streams: readonly StreamName[],
  logger: Logger,
): Promise<StreamName[]> {
  const missing: StreamName[] = [];
  for (const stream of streams) {
    const existing = await readConfiguration(jsm, stream);
    if (existing === null) {
      missing.push(stream);
      continue;
    }
    const lacking = streamSubjects[stream].filter((subject) => !existing.subjects?.includes(subject));
    if (lacking.length > 0)
      logger.warn(
        { stream, lacking },
        'the stream does not have all of its subjects; an ingest process updates it',
      );
  }
  return missing;
}

/** Whether JetStream answered that the stream does not exist. */
export function isStreamMissing(error: unknown): boolean {
  return error instanceof Error && error.message === 'stream not found';
}

function describeSettings(stream: StreamName, { retentionDays, replicas = null }: StreamSettings) {
  const maxAge = retentionDays * secondsPerDay * nanosPerSecond;
  return {
    subjects: streamSubjects[stream],
    discard: DiscardPolicy.Old,
    duplicate_window: dedupeWindowNanos,
    allow_direct: true,
    max_age: stream === 'MINER_CHAIN' || stream === 'MINER_LEASE' ? 0 : maxAge,
    ...(stream === 'MINER_LEASE' ? { max_msgs_per_subject: 1 } : {}),
    ...(replicas === null ? {} : { num_replicas: replicas }),
  };
}

function toDays(maxAgeNanos: number): number {
  return maxAgeNanos / nanosPerSecond / secondsPerDay;
}

async function readConfiguration(jsm: JetStreamManager, stream: string): Promise<StreamConfig | null> {
  try {
    return (await jsm.streams.info(stream)).config;
  } catch (error) {
    if (isStreamMissing(error)) return null;
    throw error;
  }
}

function differs(existing: StreamConfig, ours: Partial<StreamConfig>): boolean {
  return listKeys(ours).some((key) => JSON.stringify(existing[key] ?? 0) !== JSON.stringify(ours[key]));
}
