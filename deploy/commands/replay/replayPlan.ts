import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import { type FoldIdentity, isOfFold } from '../../../actors/folds/foldIdentity.ts';
import type { Database } from '../../../storage/clickhouse/database.ts';
import { listUnfinished, selectKept } from '../../../storage/runs/fills.ts';
import {
  cutRuns,
  findLastRun,
  findTip,
  isSameHistory,
  type Lineage,
  readLineage,
} from '../../../storage/runs/lineages.ts';
import { readCounted } from '../../../storage/runs/mergedRuns.ts';
import type { SnapshotStore } from '../../../storage/snapshots/snapshots.ts';
import type { SnapshotHeader } from '../../../storage/tables/foldSnapshot.ts';
import { describeLost, findLost } from '../../../streams/ingest/lostMessages.ts';
import { findSequenceAt } from '../../../streams/jetstream/findSequenceAt.ts';
import {
  createStreamVerifier,
  StreamDiverged,
  type StreamVerifier,
} from '../../../streams/jetstream/proofs/streamVerifier.ts';
import { askUntilProven } from '../../../streams/jetstream/proofs/suspicions.ts';
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
  readonly dryRun: boolean;
  /** Continues without the messages that have left the stream. */
  readonly isIncomplete: boolean;
}

/** The rows that are made again: all of the messages after a saved state. */
export interface ReplayPlan {
  /** First requested message. Rows of earlier ones are made again too, back to the saved state. */
  readonly fromSequence: number;
  readonly throughSequence: number;
  /** Position of the newest saved state before the first message; null for the beginning of the stream. */
  readonly basePosition: number | null;
  /** The history that is continued: the current one through the saved state, or one that a stopped replay of the same messages has begun. */
  readonly from: Lineage;
  readonly isResumed: boolean;
}

interface ReplayPlanOptions {
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  readonly database: Database;
  readonly snapshots: SnapshotStore;
  readonly identity: FoldIdentity;
  readonly nowMs: () => number;
}

/** The state and rows that a replay replaces. */
interface ReplacedHistory {
  readonly history: Lineage;
  /** Its snapshots, the highest position first. */
  readonly usable: readonly SnapshotHeader[];
  /** The last message whose rows are stored. */
  readonly stored: number;
}

/**
 * Finds the sequences and the history for a replay.
 *
 * @returns the plan, and in sentences the requested part that cannot be rebuilt; null if everything can.
 * @throws ReplayRefused if it is impossible, or incomplete without `isIncomplete`.
 */
export async function planReplay(parts: ReplayPlanOptions, request: ReplayRequest) {
  const { created, state } = await parts.jsm.streams.info(stream);
  if (state.messages === 0)
    throw new ReplayRefused(`${stream} holds no messages: there is nothing to replay`);
  const requestedFrom = Math.max(await firstSequence(parts, request.from, state.last_seq), 1);
  const fromSequence = request.isIncomplete ? Math.max(requestedFrom, state.first_seq) : requestedFrom;
  const verifier = createStreamVerifier({ jsm: parts.jsm, stream, clock: systemClock });
  const replaced = await requireHistory(parts, verifier, created);
  const { history, usable, stored } = replaced;
  if (fromSequence > stored + 1) {
    throw new ReplayRefused(
      `ClickHouse holds readings through ${stored}: a replay may begin at ${stored + 1} or below, not at ${fromSequence}`,
    );
  }
  const basePosition = await findBase(verifier, { usable, fromSequence, firstHeld: state.first_seq });
  const notRebuilt =
    state.first_seq > 1 && (basePosition === null || requestedFrom < state.first_seq)
      ? await describeNotRebuilt(parts, { history, requestedFrom, basePosition, ...state })
      : null;
  if (notRebuilt !== null && !request.isIncomplete)
    throw new ReplayRefused(`${notRebuilt} ${advise(usable, state.first_seq)}`);
  // The service must fold messages that it has not stored yet, since it publishes their rejections and a replay does not.
  const requestedThrough = Math.min(
    await lastSequence(parts, request.to, state.last_seq),
    state.last_seq,
    stored,
  );
  const throughSequence = await findLastMessage(parts, requestedThrough);
  if (throughSequence < fromSequence) {
    throw new ReplayRefused(
      `nothing lies between ${fromSequence} and ${throughSequence}; ${stream} holds ${state.first_seq} to ${state.last_seq}`,
    );
  }
  const begun = await findBegun(parts, request, { history, basePosition, throughSequence });
  const plan: ReplayPlan = { fromSequence, throughSequence, basePosition, ...begun };
  return { plan, notRebuilt };
}

/** The history that counts, if this version and deployment have made it from the stream that NATS has. */
async function requireHistory(
  { database, snapshots, identity }: ReplayPlanOptions,
  verifier: StreamVerifier,
  streamCreated: string,
): Promise<ReplacedHistory> {
  const history = await readLineage(database, stream);
  if (history !== null && !isOfFold(history, identity))
    throw new ReplayRefused(
      'the stored rows were made with another version or another deployment file: set MINER_DEPLOYMENT to the file that the service uses, ' +
        'or start the service with this file: it folds the stream again by itself',
    );
  const isCounted = await readCounted(database, history);
  const usable = (await snapshots.list(stream)).filter(
    (header) => isOfFold(header, identity) && isCounted(header),
  );
  const stored = history === null ? 0 : await findTip(database, history, usable[0]?.position ?? 0);
  if (history === null || stored === 0)
    throw new ReplayRefused(
      'ClickHouse holds no readings yet: start the service, which folds the stream; then a replay is possible',
    );
  // Rows of lost messages do not tell how far the messages in their place are folded.
  if (history.streamCreated !== streamCreated || (await askUntilProven(() => verifier.hasLostEnd(stored))))
    throw new ReplayRefused(
      `${stream} has lost messages whose rows are stored: start the service, which leaves these rows out; then a replay is possible`,
    );
  return { history, usable, stored };
}

/** The history to continue: a stopped replay of the same messages, or the history through the saved state. A dry run begins anew, since that replay may still run. */
async function findBegun(
  { database, identity }: ReplayPlanOptions,
  { dryRun }: ReplayRequest,
  {
    history,
    basePosition,
    throughSequence,
  }: { readonly history: Lineage } & Pick<ReplayPlan, 'basePosition' | 'throughSequence'>,
): Promise<Pick<ReplayPlan, 'from' | 'isResumed'>> {
  const kept = cutRuns(history.runs, basePosition ?? 0);
  const { streamCreated } = history;
  const unfinished = dryRun
    ? []
    : await listUnfinished(database, stream, 'filling', { ...identity, streamCreated });
  const begun = unfinished.find((one) => isSameHistory(selectKept(one), kept));
  if (begun === undefined)
    return { from: { ...history, runs: kept, continuedRun: findLastRun(kept) }, isResumed: false };
  const runs = cutRuns(begun.runs, throughSequence);
  return { from: { ...history, runs, continuedRun: begun.continuedRun }, isResumed: true };
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
    readonly history: Lineage;
    readonly requestedFrom: number;
    readonly basePosition: number | null;
    readonly first_seq: number;
    readonly first_ts: string;
  },
): Promise<string> {
  const {
    history,
    requestedFrom,
    basePosition,
    first_seq: firstAvailable,
    first_ts: firstStoredAt,
  } = available;
  const sentences = [
    `${stream} begins at ${firstAvailable}, stored at ${firstStoredAt}; what came before is gone.`,
  ];
  if (basePosition !== null)
    sentences.push(
      `Messages ${requestedFrom} to ${firstAvailable - 1} cannot be rebuilt: their rows of readings, rounds, half_hour_buckets and events stay as they are.`,
    );
  else {
    sentences.push(
      'No snapshot continues there: the state and the rows before it are made again from the stored readings.',
    );
    const lost = await findLost(parts, history.runs);
    if (lost !== null) sentences.push(describeLost(lost));
  }
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
