import {
  DiscardPolicy,
  type JetStreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream';
import type { Logger } from 'pino';
import { streamNames, streamSubjects } from './subjects.ts';

const nanosPerSecond = 1_000_000_000;
const dedupeWindowNanos = 120 * nanosPerSecond;
const secondsPerDay = 86_400;

export interface StreamRetention {
  /** Messages older than this are removed by the server; 0 keeps all. */
  readonly retentionDays: number;
}

/**
 * Creates the four streams, or brings the settings that are ours up to date and leaves an operator's others
 * (replicas, placement, limits) alone.
 */
export async function ensureStreams(
  jsm: JetStreamManager,
  { retentionDays }: StreamRetention,
  logger: Logger,
): Promise<void> {
  for (const stream of streamNames) {
    const ours = {
      subjects: streamSubjects[stream],
      discard: DiscardPolicy.Old,
      duplicate_window: dedupeWindowNanos,
      allow_direct: true,
      max_age: retentionDays * secondsPerDay * nanosPerSecond,
    };
    const held = await configurationOf(jsm, stream);
    if (held === null) {
      const fixed = { storage: StorageType.File, retention: RetentionPolicy.Limits };
      await jsm.streams.add({ name: stream, ...fixed, ...ours });
      logger.info({ stream, subjects: ours.subjects, retentionDays }, 'stream created');
    } else if (differs(held, ours)) {
      await jsm.streams.update(stream, { ...held, ...ours });
      logger.info({ stream, subjects: ours.subjects, retentionDays }, 'stream settings updated');
    }
  }
}

async function configurationOf(jsm: JetStreamManager, stream: string): Promise<StreamConfig | null> {
  try {
    return (await jsm.streams.info(stream)).config;
  } catch (error) {
    if (error instanceof Error && error.message === 'stream not found') return null;
    throw error;
  }
}

function differs(held: StreamConfig, ours: Partial<StreamConfig>): boolean {
  return Object.entries(ours).some(
    ([key, value]) => JSON.stringify(held[key as keyof StreamConfig] ?? 0) !== JSON.stringify(value),
  );
}
