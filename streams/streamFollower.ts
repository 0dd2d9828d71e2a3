import { setImmediate as nextTurn } from 'node:timers/promises';
import type { JetStreamManager } from '@nats-io/jetstream';
import type { Logger } from 'pino';
import { lastValueFrom, merge, Observable, Subject, takeUntil, tap } from 'rxjs';
import { createActor } from 'xstate';
import { type FoldIdentity, isOfFold } from '../actors/foldIdentity.ts';
import type { InputStreamName } from '../actors/messages/subjects.ts';
import type { Clock } from '../actors/views/clock.ts';
import { type StreamFollowerState, streamFollowerMachine } from '../machines/streamFollowerMachine.ts';
import { type FoldSnapshot, linesOf, type SnapshotHeader } from '../storage/foldSnapshot.ts';
import type { SnapshotStore } from '../storage/snapshots.ts';
import { type Checkpoint, emptyCheckpoint } from './jetstream/checkpoint.ts';
import { sleep } from './jetstream/connection.ts';
import type { MessageBatch, MessageSource, SourceStatus } from './jetstream/messageSource.ts';
import { StreamDiverged, type VerifiedStream, verifySource } from './jetstream/sourceVerification.ts';
import { within } from './within.ts';

const restoreRetryMs = 1_000;
/** Lines of a snapshot that are joined before the event loop turns. */
const linesPerTurn = 500;

/** So many messages are a reason to save the state once they are folded. */
const longWayMessages = 10_000;
/** In this order snapshots are tried. */
const ranks = { oldEnough: 0, tooYoung: 1, beforeGap: 2, otherStream: 3 } as const;

/** A fold cannot go on from the state that it has; the message says why. */
export class OlderSnapshotNeeded extends Error {
  override readonly name = 'OlderSnapshotNeeded';
}

/** One stream's fold with everything that it hands on, as the follower drives it. */
export interface FollowedFold {
  readonly identity: FoldIdentity;
  /** At the start a snapshot at least so old is restored where there is one; the newest when this is left out. */
  readonly snapshotAgeMs?: number;
  /** @throws OlderSnapshotNeeded when a snapshot that it accepts has to be restored first. */
  fold(batch: MessageBatch, streamCreated: string): void;
  /** Whether a snapshot's state can be gone on from; every one can when this is left out. */
  accepts?(state: string): boolean;
  /** Immutable state as of this call, encoded line by line later. */
  capture(): Iterable<string>;
  restore(lines: Iterable<string>, position: number): void;
  /** True once everything handed on so far is stored elsewhere; false when that will not happen any more. */
  flushed(): Promise<boolean>;
  /** Forgets what waits to be stored: messages above `position` are folded again. What they make is stored again as it was. */
  rewind(position: number): Promise<void>;
  /** Its rows are in tables that belong to no generation: another deployment's have to be removed from them. */
  readonly sharesTables?: boolean;
  /** Whether what is stored was made from messages that the stream does not hold any more; left out where it cannot be told. */
  isStoredElsewise?(): Promise<boolean>;
  /** Removes what was stored from messages above `position`, which are not in the stream any more. */
  removeAbove(position: number): Promise<void>;
  /** Everything is folded that the stream held when state was restored. */
  caughtUp?(): void;
}

export interface SnapshotPolicy {
  /** A snapshot is taken when this much time has passed since the last one, */
  readonly intervalMs: number;
  /** or this many messages. */
  readonly messages: number;
}

export interface StreamFollowerParts {
  readonly stream: InputStreamName;
  readonly source: MessageSource;
  readonly jsm: JetStreamManager;
  readonly fold: FollowedFold;
  readonly snapshots: SnapshotStore;
  /** A read replica restores snapshots and writes nothing. */
  readonly writes: boolean;
  readonly onSaved?: () => void;
  readonly policy: SnapshotPolicy;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface FollowerStatus extends SourceStatus {
  readonly follower: StreamFollowerState;
  /** Everything that the stream held at the start is folded in. */
  readonly isCaughtUp: boolean;
  /** State was restored at least once, so views tell what was folded. */
  readonly isRestored: boolean;
  /** State was restored anew, after a divergence or a replay, and what the stream held then is not folded yet. */
  readonly isRebuilding: boolean;
  /** Times that the stream turned out to be another than the folded one. */
  readonly divergences: number;
  readonly snapshotPosition: number | null;
  readonly snapshotFailures: number;
}

export interface StreamFollower {
  /** Follows until `stop`; rejects only for a fault of this program. */
  run(): Promise<void>;
  status(): FollowerStatus;
  /** Of the status, for those who ask with every request. */
  readonly isCaughtUp: boolean;
  readonly isRestored: boolean;
  /** Caught up, and not rebuilding. */
  readonly isCurrent: boolean;
  /** Stops folding, lets `replace` exchange what snapshots are restored from, and restores and folds anew. */
  restoreAnew(replace: () => void): void;
  /** Stops taking messages, then saves what is folded, when its rows are stored within `graceMs`. */
  stop(options: { graceMs: number }): Promise<void>;
}

/** Restores the newest snapshot that agrees with the stream, folds what follows, and takes snapshots. */
export function createStreamFollower(parts: StreamFollowerParts): StreamFollower {
  const { stream, source, jsm, fold, snapshots, policy, clock, logger } = parts;
  const machine = createActor(streamFollowerMachine).start();
  const stopping = new AbortController();
  const stopped$ = new Observable<void>((subscriber) => {
    stopping.signal.addEventListener('abort', () => subscriber.next());
  });
  const replacing$ = new Subject<void>();
  let replacement: (() => void) | null = null;
  const counts = { divergences: 0, snapshotFailures: 0, isRestored: false, isRebuilding: false };
  let target: number | null = null;
  let isCaughtUp = false;
  let latest: { streamCreated: string; batch: MessageBatch | null; position: number } | null = null;
  let attempted = { position: 0, atMs: clock.monotonicMs() };
  let savedPosition: number | null = null;
  let saving: Promise<void> | null = null;
  /** The stream turned out to be another one, and what was stored of it is not removed yet. */
  let hasDiverged = false;
  /** The fold goes back to before some of what it has stored. */
  let isRewinding = false;

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      if (replacement !== null) {
        await saving;
        // What is folded goes with what was stored before, and must not be saved beside what is stored now.
        latest = null;
        replacement();
        replacement = null;
      }
      const restored = await restore();
      if (restored === null || stopping.signal.aborted) return;
      if (replacement !== null) continue;
      machine.send({ type: 'restored' });
      counts.isRestored = true;
      if (target === null || counts.isRebuilding) target = restored.verified.lastSequence;
      latest = {
        streamCreated: restored.verified.created,
        batch: null,
        position: restored.checkpoint.position,
      };
      attempted = { position: restored.checkpoint.position, atMs: clock.monotonicMs() };
      savedPosition = restored.checkpoint.position;
      noteProgress();
      try {
        await follow(restored.checkpoint);
        if (replacement === null) return;
        machine.send({ type: 'replaced' });
        counts.isRebuilding = true;
      } catch (error) {
        if (error instanceof StreamDiverged) {
          counts.divergences++;
          hasDiverged = true;
          const { reason } = error;
          logger.error({ stream, reason, err: error }, 'stream diverged: an older snapshot is restored');
        } else if (error instanceof OlderSnapshotNeeded) {
          isRewinding = true;
          logger.error({ stream, err: error }, 'the fold needs an older snapshot, which is restored');
        } else throw error;
        machine.send({ type: 'diverged' });
        counts.isRebuilding = true;
        await saving;
      }
    }
  }

  function follow(checkpoint: Checkpoint): Promise<unknown> {
    const batches$ = source
      .messagesAfter(checkpoint)
      .pipe(tap(onBatch), takeUntil(merge(stopped$, replacing$)));
    const timer = setInterval(() => maybeSave(false), Math.min(policy.intervalMs, 5_000));
    return lastValueFrom(batches$, { defaultValue: null }).finally(() => clearInterval(timer));
  }

  function onBatch(batch: MessageBatch) {
    const { streamCreated } = batch;
    fold.fold(batch, streamCreated);
    latest = { streamCreated, batch, position: batch.position };
    noteProgress();
    maybeSave(true);
  }

  function noteProgress() {
    if (isCaughtUp && !counts.isRebuilding) return;
    if (latest === null || target === null || latest.position < target) return;
    isCaughtUp = true;
    counts.isRebuilding = false;
    // Everything was folded again, or much: the next start need not do so.
    const restoredAt = savedPosition ?? 0;
    const foldedMessages = target - restoredAt;
    if (foldedMessages >= longWayMessages || (restoredAt === 0 && foldedMessages > 0))
      attempted = { ...attempted, atMs: Number.NEGATIVE_INFINITY };
    fold.caughtUp?.();
    logger.info(
      { stream, position: latest.position },
      'everything that the stream held at the start is folded in',
    );
    if (savedPosition === latest.position && latest.position > 0) parts.onSaved?.();
  }

  function maybeSave(isBatch: boolean) {
    if (!parts.writes || saving !== null || latest === null || latest.position === attempted.position) return;
    const isDueByTime = clock.monotonicMs() - attempted.atMs >= policy.intervalMs;
    const isDueByCount = isBatch && latest.position - attempted.position >= policy.messages;
    if (isDueByTime || isDueByCount) void save();
  }

  /** Rows first, snapshot last: what a snapshot covers is stored before it is. */
  function save(): Promise<void> {
    if (latest?.batch == null) return Promise.resolve();
    const checkpoint = latest.batch.checkpoint();
    const captured = fold.capture();
    attempted = { position: checkpoint.position, atMs: clock.monotonicMs() };
    saving = (async () => {
      if (!(await fold.flushed())) return;
      await snapshots.save(await snapshotOf(checkpoint, captured));
      savedPosition = checkpoint.position;
      logger.debug({ stream, position: savedPosition }, 'snapshot saved');
      parts.onSaved?.();
    })()
      .catch((error: unknown) => {
        counts.snapshotFailures++;
        logger.warn({ stream, err: error }, 'snapshot could not be saved; the next one is tried in its time');
      })
      .finally(() => {
        saving = null;
      });
    return saving;
  }

  async function snapshotOf(checkpoint: Checkpoint, captured: Iterable<string>): Promise<FoldSnapshot> {
    const lines: string[] = [];
    for (const line of captured) {
      lines.push(line);
      if (lines.length % linesPerTurn === 0) await nextTurn();
    }
    const { streamCreated, position, digest } = checkpoint;
    if (streamCreated === null) throw new Error('a snapshot needs a folded message');
    const takenAtMs = clock.nowMs();
    return {
      stream,
      ...fold.identity,
      streamCreated,
      position,
      digest,
      takenAtMs,
      state: lines.join('\n'),
    };
  }

  /** Null when stopped meanwhile. Storage or NATS away: tried again until they are there. */
  async function restore() {
    for (let failures = 0; !stopping.signal.aborted; failures++) {
      try {
        return await restoreOnce();
      } catch (error) {
        if (failures === 0)
          logger.warn({ stream, err: error }, 'state cannot be restored yet; it is tried again');
        await sleep(restoreRetryMs, stopping.signal);
      }
    }
    return null;
  }

  async function restoreOnce(): Promise<{ checkpoint: Checkpoint; verified: VerifiedStream }> {
    const asItIs = await verifySource(jsm, stream, emptyCheckpoint);
    const headers = await snapshots.list(stream);
    const found = await newestAgreeing(headers, asItIs);
    const checkpoint = found.snapshot === null ? emptyCheckpoint : checkpointOf(found.snapshot);
    if (parts.writes)
      await clearAbove(checkpoint.position, found.disagrees, isReconfigured(headers, found.snapshot));
    const lines = found.snapshot === null ? [] : linesOf(found.snapshot);
    fold.restore(lines, checkpoint.position);
    const { lastSequence } = asItIs;
    logger.info(
      { stream, position: checkpoint.position, lastSequence },
      found.snapshot === null ? 'folding from the beginning of the stream' : 'snapshot restored',
    );
    return { checkpoint, verified: asItIs };
  }

  /**
   * Messages that are folded again make the same rows under the same keys, so what is stored stays, and whoever reads it sees no hole. Only
   * rows of messages that the stream does not hold any more, those of another deployment, and those that a rewinding fold may not make again,
   * are removed.
   */
  async function clearAbove(position: number, disagrees: boolean, reconfigured: boolean) {
    await fold.rewind(position);
    hasDiverged ||= disagrees || ((await fold.isStoredElsewise?.()) ?? false);
    if (hasDiverged || isRewinding || reconfigured) await fold.removeAbove(position);
    if (hasDiverged || reconfigured) await snapshots.deleteAbove(stream, reconfigured ? -1 : position);
    hasDiverged = false;
    isRewinding = false;
  }

  /** Whether what is stored was made with another deployment, and is shared with other folds. */
  function isReconfigured(headers: readonly SnapshotHeader[], restored: FoldSnapshot | null): boolean {
    if (!fold.sharesTables) return false;
    const { configuration } = fold.identity;
    // Earlier versions did not note it.
    const isOther =
      headers.length > 0 &&
      headers.every((header) => header.configuration !== configuration && header.configuration !== '');
    if (restored !== null || !isOther) return false;
    logger.warn(
      { stream },
      'the deployment is another than that of the snapshots: the stream is folded again',
    );
    return true;
  }

  /** The newest snapshot whose last message is in the stream, and whether a newer one disagreed. */
  async function newestAgreeing(
    headers: readonly SnapshotHeader[],
    { created, firstSequence }: VerifiedStream,
  ) {
    let disagrees = false;
    const usable = headers.filter((header) => isOfFold(header, fold.identity));
    if (usable.length < headers.length)
      logger.info(
        { stream, snapshots: headers.length - usable.length, foldVersion: fold.identity.foldVersion },
        'snapshots of another version or deployment are left alone',
      );
    for (const header of inOrder(usable, created, firstSequence)) {
      const { position } = header;
      try {
        await verifySource(jsm, stream, header);
        const snapshot = await snapshots.load(header);
        if (snapshot === null || fold.accepts?.(snapshot.state) === false) continue;
        return { snapshot, disagrees };
      } catch (error) {
        if (!(error instanceof StreamDiverged)) throw error;
        disagrees = true;
        logger.error(
          { stream, position, reason: error.reason, err: error },
          'snapshot disagrees with the stream',
        );
      }
    }
    return { snapshot: null, disagrees };
  }

  /**
   * In which order snapshots are tried: those that the stream continues without a gap before those that it does not; old enough ones
   * before younger ones; those of the highest position first, and among the too young ones the oldest.
   */
  function inOrder(
    headers: readonly SnapshotHeader[],
    created: string,
    firstSequence: number,
  ): SnapshotHeader[] {
    const youngestMs = clock.nowMs() - (fold.snapshotAgeMs ?? Number.NEGATIVE_INFINITY);
    const rankOf = ({ streamCreated, position, takenAtMs }: SnapshotHeader) => {
      if (streamCreated !== created) return ranks.otherStream;
      if (position + 1 < firstSequence) return ranks.beforeGap;
      return takenAtMs <= youngestMs ? ranks.oldEnough : ranks.tooYoung;
    };
    return headers.toSorted((a, b) => {
      const upwards = rankOf(a) === ranks.tooYoung ? 1 : -1;
      return rankOf(a) - rankOf(b) || (a.position - b.position) * upwards;
    });
  }

  async function stop({ graceMs }: { graceMs: number }) {
    stopping.abort();
    machine.send({ type: 'stopped' });
    if (!parts.writes || latest === null) return;
    const saveLast = async () => {
      await saving;
      if (latest !== null && latest.position > (savedPosition ?? 0)) await save();
    };
    await within(graceMs, saveLast());
  }

  function status(): FollowerStatus {
    const follower = machine.getSnapshot().value;
    return { ...source.status(), ...counts, follower, isCaughtUp, snapshotPosition: savedPosition };
  }

  return {
    run,
    status,
    get isCaughtUp() {
      return isCaughtUp;
    },
    get isRestored() {
      return counts.isRestored;
    },
    get isCurrent() {
      return isCaughtUp && !counts.isRebuilding;
    },
    restoreAnew: (replace) => {
      replacement = replace;
      replacing$.next();
    },
    stop,
  };
}

function checkpointOf({ streamCreated, position, digest }: FoldSnapshot): Checkpoint {
  return { streamCreated, position, digest };
}
