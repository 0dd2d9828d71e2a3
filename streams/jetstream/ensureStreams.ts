import {
  DiscardPolicy,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream';
import type { Logger } from 'pino';
import { type StreamName, streamSubjects } from '../../actors/messages/subjects.ts';

const nanosPerSecond = 1_000_000_000;
const dedupeWindowNanos = 120 * nanosPerSecond;
const secondsPerDay = 86_400;

export interface StreamRetention {
  /**
   * Messages older than this are removed by the server; 0 keeps all. Spans of the chain are always kept: each is linked to the one before
   * it, so that the chain could not be folded again without the first.
   */
  readonly retentionDays: number;
}

/**
 * Creates streams, or brings the settings that are ours up to date and leaves an operator's others (replicas, placement,
 * limits) alone. Only a process that ingests may do so: two with different settings would undo each other's.
 */
export async function ensureStreams(
  jsm: JetStreamManager,
  streams: readonly StreamName[],
  retention: StreamRetention,
  logger: Logger,
): Promise<void> {
  for (const stream of streams) {
    const ours = describeSettings(stream, retention);
    const held = await readConfiguration(jsm, stream);
    const { subjects, max_age: maxAge } = ours;
    if (held === null) {
      const fixed = { storage: StorageType.File, retention: RetentionPolicy.Limits };
      await jsm.streams.add({ name: stream, ...fixed, ...ours });
      logger.info({ stream, subjects, maxAgeDays: toDays(maxAge) }, 'stream created');
    } else if (differs(held, ours)) {
      await jsm.streams.update(stream, { ...held, ...ours });
      logger.info({ stream, subjects, maxAgeDays: toDays(maxAge) }, 'stream settings updated');
    }
  }
}

/**
 * Looks at the streams as a process does that only reads or publishes, and says what an ingest process has to put right.
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
    const held = await readConfiguration(jsm, stream);
    if (held === null) {
      missing.push(stream);
      continue;
    }
    const lacking = streamSubjects[stream].filter((subject) => !held.subjects?.includes(subject));
    if (lacking.length > 0)
      logger.warn(
        { stream, lacking },
        'the stream does not hold all of its subjects; an ingest process brings it up to date',
      );
  }
  return missing;
}

/** Whether an answer of JetStream says that there is no such stream. */
export function isStreamMissing(error: unknown): boolean {
  return error instanceof Error && error.message === 'stream not found';
}

function describeSettings(stream: StreamName, { retentionDays }: StreamRetention) {
  const maxAge = retentionDays * secondsPerDay * nanosPerSecond;
  return {
    subjects: streamSubjects[stream],
    discard: DiscardPolicy.Old,
    duplicate_window: dedupeWindowNanos,
    allow_direct: true,
    max_age: stream === 'MINER_CHAIN' || stream === 'MINER_LEASE' ? 0 : maxAge,
    ...(stream === 'MINER_LEASE' ? { max_msgs_per_subject: 1 } : {}),
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

function differs(held: StreamConfig, ours: Partial<StreamConfig>): boolean {
  return Object.entries(ours).some(
    ([key, value]) => JSON.stringify(held[key as keyof StreamConfig] ?? 0) !== JSON.stringify(value),
  );
}
