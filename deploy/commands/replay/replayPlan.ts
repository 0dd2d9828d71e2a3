import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import { type FoldIdentity, isOfFold } from '../../../actors/foldIdentity.ts';
import type { Database } from '../../../storage/database.ts';
import { readGenerationIdentity } from '../../../storage/generationIdentity.ts';
import { storedThrough } from '../../../storage/observations.ts';
import type { ReplayLog } from '../../../storage/replayLog.ts';
import type { SnapshotStore } from '../../../storage/snapshots.ts';
import type { SnapshotHeader } from '../../../storage/tables/foldSnapshot.ts';
import type { ReplayPlan } from '../../../storage/tables/replays.ts';
import type { Tables } from '../../../storage/tables.ts';
import { readReadingRowOrigins } from '../../../streams/counter/readingRowOrigins.ts';
import { isHistoryReplaced } from '../../../streams/follower/storedHistory.ts';
import { describeLost, findLost } from '../../../streams/ingest/lostMessages.ts';
import { findSequenceAt } from '../../../streams/jetstream/findSequenceAt.ts';
import {
  createStreamVerifier,
  StreamDiverged,
  type StreamVerifier,
} from '../../../streams/jetstream/sourceVerification.ts';
import { askUntilProven } from '../../../streams/jetstream/suspicions.ts';
import { systemClock } from '../../process/systemClock.ts';

const stream = 'MINER_COUNTER';

/** The requested replay is impossible; the message says which one is possible. */
export class ReplayRefused extends Error {
  override readonly name = 'ReplayRefused';
}

/** A place in the stream: a sequence, or the time at which the server stored a message. */
export type StreamPlace = { readonly sequence: number } | { readonly time: Date };

export interface ReplayRequest {
  readonly from: StreamPlace;
  /** Null for the last message whose rows the service has stored. */
  readonly to: StreamPlace | null;
  /** Null for all. */
  readonly installationId: string | null;
  readonly dryRun: boolean;
  /** Continues without the messages that have left the stream. */
  readonly isIncomplete: boolean;
}

interface ReplayPlanOptions {
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  readonly database: Database;
  readonly tables: Tables;
  readonly snapshots: SnapshotStore;
  readonly identity: FoldIdentity;
  readonly log: ReplayLog;
  readonly nowMs: () => number;
}

/** Formats the request for the log: the same command gives the same text. */
export function formatCommand({ from, to, installationId, dryRun, isIncomplete }: ReplayRequest): string {
  return JSON.stringify({ from, to, installationId, dryRun, ...(isIncomplete && { isIncomplete }) });
}

/**
 * Finds the sequences and the snapshot for a replay, once: a resumed replay keeps them.
 *
 * @returns the plan, and in sentences the requested part that cannot be rebuilt; null if everything can.
 * @throws ReplayRefused if it is impossible, or incomplete without `isIncomplete`.
 */
export async function planReplay(parts: ReplayPlanOptions, request: ReplayRequest) {
  const { jsm, tables, log } = parts;
  const { state } = await jsm.streams.info(stream);
  if (state.messages === 0)
    throw new ReplayRefused(`${stream} holds no messages: there is nothing to replay`);
  const requestedFrom = Math.max(await firstSequence(parts, request.from, state.last_seq), 1);
  const fromSequence = request.isIncomplete ? Math.max(requestedFrom, state.first_seq) : requestedFrom;
  const usable = (await parts.snapshots.list(stream)).filter((header) => isOfFold(header, parts.identity));
  if (usable.length === 0) await requireSameFold(parts);
  const verifier = createStreamVerifier({ jsm, stream, clock: systemClock });
  await requireStoredHistory({ ...parts, verifier }, usable[0]?.position ?? 0);
  const stored = Math.max(await storedThrough(parts.database, tables), usable[0]?.position ?? 0);
  if (stored === 0)
    throw new ReplayRefused(
      'ClickHouse holds no readings yet: start the service, which folds the stream; then a replay is possible',
    );
  if (fromSequence > stored + 1) {
    throw new ReplayRefused(
      `ClickHouse holds readings through ${stored}: a replay may begin at ${stored + 1} or below, not at ${fromSequence}`,
    );
  }
  const basePosition = await findBase(verifier, { usable, fromSequence, firstHeld: state.first_seq });
  const notRebuilt =
    state.first_seq > 1 && (basePosition === null || requestedFrom < state.first_seq)
      ? await describeNotRebuilt(parts, { requestedFrom, basePosition, ...state })
      : null;
  if (notRebuilt !== null && !request.isIncomplete)
    throw new ReplayRefused(`${notRebuilt} ${advise(usable, state.first_seq)}`);
  // The service must fold messages that it has not stored yet, since it publishes their rejections and a replay does not.
  const requestedThrough = Math.min(
    await lastSequence(parts, request.to, state.last_seq),
    state.last_seq,
    stored,
  );
  const throughSequence =
    request.installationId === null
      ? await findLastMessage(parts, requestedThrough)
      : findSnapshotOfOthers(usable, requestedThrough);
  if (throughSequence < fromSequence) {
    throw new ReplayRefused(
      `nothing lies between ${fromSequence} and ${throughSequence}; ${stream} holds ${state.first_seq} to ${state.last_seq}`,
    );
  }
  const plan: ReplayPlan = {
    generation: await log.nextGeneration(tables.generation),
    baseGeneration: tables.generation,
    command: formatCommand(request),
    fromSequence,
    throughSequence,
    basePosition,
    installationId: request.installationId,
    dryRun: request.dryRun,
    identity: parts.identity,
  };
  return { plan, notRebuilt };
}

/** Rows of lost messages do not tell how far the messages in their place are folded. */
async function requireStoredHistory(
  { database, tables, verifier }: ReplayPlanOptions & { readonly verifier: StreamVerifier },
  foldedThrough: number,
): Promise<void> {
  const readOrigins = () => readReadingRowOrigins(database, tables);
  const history = { database, stream, verifier, readOrigins, foldedThrough };
  if (!(await askUntilProven(() => isHistoryReplaced(history)))) return;
  throw new ReplayRefused(
    `${stream} has lost messages whose rows are stored: start the service, which removes these rows; then a replay is possible`,
  );
}

/** Tables of another version or deployment are rebuilt by the service, which notifies the other processes. */
async function requireSameFold({ database, tables, identity }: ReplayPlanOptions): Promise<void> {
  const made = await readGenerationIdentity(database, tables);
  if (made === null || isOfFold(made, identity)) return;
  throw new ReplayRefused(
    'the stored rows were made with another version or another deployment file: set MINER_DEPLOYMENT to the file that the service uses, ' +
      'or start the service with this file: it folds the stream again by itself',
  );
}

async function firstSequence({ js }: ReplayPlanOptions, from: StreamPlace, last: number): Promise<number> {
  if ('sequence' in from) {
    if (from.sequence <= last) return from.sequence;
    throw new ReplayRefused(`${stream} ends at ${last}, so a replay cannot begin at ${from.sequence}`);
  }
  const found = await findSequenceAt(js, stream, from.time);
  if (found !== null) return found;
  throw new ReplayRefused(`${stream} has stored nothing since ${from.time.toISOString()}`);
}

async function lastSequence(
  { js }: ReplayPlanOptions,
  to: StreamPlace | null,
  last: number,
): Promise<number> {
  if (to === null) return last;
  if ('sequence' in to) return to.sequence;
  const next = await findSequenceAt(js, stream, new Date(to.time.getTime() + 1));
  return next === null ? last : next - 1;
}

/** Finds the newest message at or below a sequence that was not deleted by hand. */
async function findLastMessage({ jsm }: ReplayPlanOptions, sequence: number): Promise<number> {
  for (let position = sequence; position > 0; position--) {
    if ((await jsm.streams.getMessage(stream, { seq: position })) !== null) return position;
  }
  return 0;
}

/** Finds a snapshot with the other installations' state. It must end at the same message as the replay. */
function findSnapshotOfOthers(usable: readonly SnapshotHeader[], through: number): number {
  const newest = usable.find(({ position }) => position <= through);
  if (newest !== undefined) return newest.position;
  throw new ReplayRefused(
    `a replay of one installation needs a snapshot of the others at or below ${through}, and there is none: leave out --installation`,
  );
}

/** Finds the position of the newest snapshot below `fromSequence` that the stream still continues; null without one. */
async function findBase(
  verifier: StreamVerifier,
  wanted: {
    readonly usable: readonly SnapshotHeader[];
    readonly fromSequence: number;
    readonly firstHeld: number;
  },
): Promise<number | null> {
  const { usable, fromSequence, firstHeld } = wanted;
  for (const header of usable) {
    if (header.position >= fromSequence || header.position < firstHeld - 1) continue;
    try {
      await askUntilProven(() => verifier.verify(header));
      return header.position;
    } catch (error) {
      if (!(error instanceof StreamDiverged)) throw error;
    }
  }
  return null;
}

/** Describes what cannot be rebuilt because the stream's first messages are gone, and what the state before the replay is made from. */
async function describeNotRebuilt(
  parts: ReplayPlanOptions,
  available: {
    readonly requestedFrom: number;
    readonly basePosition: number | null;
    readonly first_seq: number;
    readonly first_ts: string;
  },
): Promise<string> {
  const { requestedFrom, basePosition, first_seq: firstAvailable, first_ts: firstStoredAt } = available;
  const sentences = [
    `${stream} begins at ${firstAvailable}, stored at ${firstStoredAt}; what came before is gone.`,
  ];
  if (requestedFrom < firstAvailable)
    sentences.push(
      `Messages ${requestedFrom} to ${firstAvailable - 1} cannot be rebuilt: their rows of readings, rounds, half_hour_buckets and measurement_feed stay as they are.`,
    );
  if (basePosition !== null) return sentences.join(' ');
  sentences.push(
    'No snapshot continues there: the state before it is folded again from the stored readings.',
  );
  const lost = await findLost(parts, parts.tables);
  if (lost !== null) sentences.push(describeLost(lost));
  return sentences.join(' ');
}

function advise(usable: readonly SnapshotHeader[], firstAvailable: number): string {
  const continued = usable
    .filter(({ position }) => position >= firstAvailable - 1)
    .map(({ position }) => position);
  const accept = '--incomplete continues without them';
  if (continued.length === 0) return `${accept}.`;
  const oldest = Math.min(...continued);
  return `The oldest snapshot that it continues is at message ${oldest}: begin at ${oldest + 1} or above, or ${accept}.`;
}
