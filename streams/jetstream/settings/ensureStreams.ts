import type { Logger } from 'pino';
import { type StreamName, streamSubjects } from '../../../actors/messages/subjects.ts';
import { listKeys } from '../../../actors/schemas/listKeys.ts';
import { isRefusedAs, type StreamConfig, type StreamPort } from '../../nats/streamPort.ts';
import { streamTable } from './streamTable.ts';

const nanosPerSecond = 1_000_000_000;
const secondsPerDay = 86_400;

export interface StreamSettings {
  /**
   * The server removes messages older than this; 0 keeps all. It always keeps spans of the chain: each links to its predecessor, so
   * folding needs the first.
   */
  readonly retentionDays: number;
  /** Copies of each stream, on different servers of a cluster. By default a new stream has one, and an existing stream keeps its number. */
  readonly replicas?: number | null;
}

interface LoggedStreams {
  readonly streams: readonly StreamName[];
  readonly logger: Logger;
}

/**
 * Creates streams, or updates the settings that this service owns. The operator's settings (replicas, placement, limits) stay unchanged.
 * Only an ingesting process may do so: two processes with different settings would undo each other's.
 */
export async function ensureStreams(
  jetStream: StreamPort,
  { streams, logger, ...settings }: StreamSettings & LoggedStreams,
): Promise<void> {
  for (const stream of streams) {
    const existing = await ensureExists(jetStream, { stream, logger, ...settings });
    // A mirror takes its messages and their subjects from another stream.
    if (existing === null || existing.mirror !== undefined) continue;
    const ours = { ...describeSettings(stream, settings), ...describeBounds(stream, existing) };
    if (!differs(existing, ours)) continue;
    await applyWithRoom(ours, logger, (fitting) => jetStream.update(stream, { ...existing, ...fitting }));
    logger.info(
      { stream, subjects: ours.subjects, maxAgeDays: toDays(ours.max_age) },
      'stream settings updated',
    );
  }
}

/**
 * Creates a stream unless it exists.
 *
 * @returns its settings if it existed, otherwise null.
 */
export async function ensureExists(
  jetStream: StreamPort,
  { stream, logger, ...settings }: StreamSettings & { readonly stream: StreamName; readonly logger: Logger },
): Promise<StreamConfig | null> {
  const existing = await readConfiguration(jetStream, stream);
  if (existing !== null) return existing;
  const ours = { ...describeSettings(stream, settings), ...describeBounds(stream, {}) };
  const fixed = { name: stream, ...describeFixed(stream) };
  await applyWithRoom(ours, logger, (fitting) => jetStream.create({ ...fixed, ...fitting }));
  logger.info({ stream, subjects: ours.subjects, maxAgeDays: toDays(ours.max_age) }, 'stream created');
  return null;
}

/** Warns of streams with a single replica in a cluster: they are unavailable while its server is. */
export async function warnOfSingleReplicas(
  jetStream: StreamPort,
  streams: readonly StreamName[],
  logger: Logger,
): Promise<void> {
  const single: StreamName[] = [];
  for (const stream of streams) {
    const { config, cluster } = await jetStream.info(stream);
    if (cluster !== null && config.num_replicas === 1) single.push(stream);
  }
  if (single.length > 0)
    logger.warn(
      { streams: single },
      'these streams have a single replica in a cluster, and are unavailable while its server is down: set MINER_STREAM_REPLICAS=3',
    );
}

/**
 * Checks the streams for a process that only reads or publishes, and logs settings that an ingest process has to correct.
 *
 * @returns streams that do not exist.
 */
export async function verifyStreams(
  jetStream: StreamPort,
  streams: readonly StreamName[],
  logger: Logger,
): Promise<StreamName[]> {
  const missing: StreamName[] = [];
  for (const stream of streams) {
    const existing = await readConfiguration(jetStream, stream);
    if (existing === null) {
      missing.push(stream);
      continue;
    }
    const lacking = streamSubjects[stream].filter((subject) => !existing.subjects?.includes(subject));
    if (lacking.length > 0)
      logger.warn({ stream, lacking }, 'the stream lacks some of its subjects; an ingest process adds them');
  }
  return missing;
}

/** Applies settings, without the bound on bytes if the store of NATS is too small: NATS reserves these bytes. */
async function applyWithRoom<Settings extends { readonly max_bytes?: number }>(
  settings: Settings,
  logger: Logger,
  apply: (fitting: Omit<Settings, 'max_bytes'>) => Promise<unknown>,
): Promise<void> {
  try {
    await apply(settings);
  } catch (error) {
    if (!isRefusedAs('noRoom', error) || settings.max_bytes === undefined) throw error;
    const { max_bytes: maxBytes, ...fitting } = settings;
    logger.warn(
      { err: error, maxBytes },
      'the store of NATS has no room to reserve for MINER_REJECTED: its size is not limited',
    );
    await apply(fitting);
  }
}

/** Settings of a new stream, which the operator may change afterwards. Only the two denials can never be taken back. */
function describeFixed(stream: StreamName): Partial<StreamConfig> {
  return {
    storage: 'file',
    retention: 'limits',
    discard: 'old',
    ...(streamTable[stream].use === 'folded' && { deny_delete: true, deny_purge: true }),
  };
}

/** Bounds that the stream does not have yet; the operator's own stay. */
function describeBounds(
  stream: StreamName,
  { max_msg_size: size = 0, max_bytes: bytes = 0 }: Partial<StreamConfig>,
) {
  const { messageBytesMax, bytesMax } = streamTable[stream];
  return {
    ...(messageBytesMax !== null && size <= 0 && { max_msg_size: messageBytesMax }),
    ...(bytesMax !== null && bytes <= 0 && { max_bytes: bytesMax }),
  };
}

function describeSettings(stream: StreamName, { retentionDays, replicas = null }: StreamSettings) {
  const { isAging, messagesPerSubject, dedupeSeconds } = streamTable[stream];
  return {
    subjects: streamSubjects[stream],
    duplicate_window: dedupeSeconds * nanosPerSecond,
    allow_direct: true,
    max_age: isAging ? retentionDays * secondsPerDay * nanosPerSecond : 0,
    ...(messagesPerSubject !== null && { max_msgs_per_subject: messagesPerSubject }),
    ...(replicas !== null && { num_replicas: replicas }),
  };
}

function toDays(maxAgeNanos: number): number {
  return maxAgeNanos / nanosPerSecond / secondsPerDay;
}

async function readConfiguration(jetStream: StreamPort, stream: string): Promise<StreamConfig | null> {
  try {
    return (await jetStream.info(stream)).config;
  } catch (error) {
    if (isRefusedAs('missing', error)) return null;
    throw error;
  }
}

function differs(existing: StreamConfig, ours: Partial<StreamConfig>): boolean {
  return listKeys(ours).some((key) => JSON.stringify(existing[key] ?? 0) !== JSON.stringify(ours[key]));
}
