import type { StreamMessage } from '../messages/streamMessage.ts';
import type { AcceptanceState } from './acceptance.ts';
import { type AcceptedReading, toAcceptedReading } from './acceptedReading.ts';
import type { CounterReading } from './counterReading.ts';
import type { DecodeCounter } from './decodeCounter.ts';
import {
  createInstallationActor,
  type InstallationActor,
  type InstallationState,
  type ReadingOutput,
} from './installationActor.ts';
import { collectPublicReadings, type PublicReadings } from './publicReadings.ts';
import { createNewMarks, type NewMarks, type RangeAcceptance } from './rangeAcceptance.ts';
import { beginRounds, type RangeRounds } from './rangeRounds.ts';
import { findRound } from './roundFold.ts';

/** What a range of messages makes of one installation, for who knows its state before the range. */
export interface InstallationRange extends RangeAcceptance, RangeRounds {
  /** The reading that the fold began with: the last one of the lead-in, or the first one of the range. */
  readonly first: AcceptedReading;
}

/** A range of messages that was folded without the state before it. Plain data, for another thread. */
export interface FoldedRange {
  readonly fromSequence: number;
  /** Those that have readings in it, in the order in which these came first. */
  readonly installations: readonly InstallationRange[];
  readonly publicReadings: PublicReadings;
}

export interface RangeFoldOptions {
  readonly decode: DecodeCounter;
  /** Start of round 1 (epoch milliseconds). */
  readonly genesisMs: number;
  readonly publicInstallationId: string;
  /** First message of the range; those before it are its lead-in. */
  readonly fromSequence: number;
}

export interface RangeFold {
  /**
   * Takes the next message of the lead-in or the range. What it returns is certain once the range is joined to the state
   * before it; null for a message that makes nothing.
   */
  receive(message: StreamMessage): ReadingOutput | null;
  complete(): FoldedRange;
}

/** The fold of a range of `MINER_COUNTER` whose state before the range is not known yet. */
export function createRangeFold(options: RangeFoldOptions): RangeFold {
  const { decode, genesisMs, publicInstallationId, fromSequence } = options;
  const leadIn = new Map<string, InstallationActor>();
  const installations = new Map<string, OpenRange>();
  const publicReadings = collectPublicReadings(publicInstallationId);

  function receive(message: StreamMessage): ReadingOutput | null {
    const decoded = decode(message.subject, message.data);
    if ('rejection' in decoded) return null;
    if (message.seq < fromSequence) lead(decoded.value, message.seq);
    else return take(decoded.value, message);
    return null;
  }

  function lead(reading: CounterReading, position: number) {
    const { installationId } = reading;
    const actor = leadIn.get(installationId) ?? createInstallationActor(installationId, genesisMs, null);
    leadIn.set(installationId, actor);
    actor.receive(reading, position);
  }

  function take(reading: CounterReading, message: StreamMessage): ReadingOutput | null {
    const { seq } = message;
    const { installationId } = reading;
    const known = installations.get(installationId);
    const last = leadIn.get(installationId)?.state()?.acceptance.latest;
    const range = known ?? openRange(last ?? toAcceptedReading(reading, seq, null), genesisMs);
    if (known === undefined) installations.set(installationId, range);
    const output = range.first.position === seq ? beginWith(range.first) : continueWith(range, reading, seq);
    if (output !== null && installationId === publicInstallationId)
      publicReadings.add(output.reading, output.closed.round, message.timestampNanos);
    return output;
  }

  function complete(): FoldedRange {
    const completed = Array.from(installations.values(), (range): InstallationRange => {
      const { first, round, bucket, marks, openRoundId } = range;
      const { acceptance, roundState } = stateOf(range);
      const { newBoots, newEpochs } = marks;
      const isRoundOpen = findRound(acceptance.latest.observedAtMs, genesisMs) === openRoundId;
      return { first, acceptance, newBoots, newEpochs, roundState, round, isRoundOpen, bucket };
    });
    return { fromSequence, installations: completed, publicReadings: publicReadings.complete() };
  }

  return { receive, complete };
}

function beginWith(reading: AcceptedReading): ReadingOutput {
  return { reading, closed: { round: null, bucket: null } };
}

/** Keeps back what closes of what was open when the range began: whoever joins the range knows the rest of it. */
function continueWith(range: OpenRange, received: CounterReading, position: number): ReadingOutput | null {
  const before = stateOf(range).acceptance;
  const outcome = range.actor.receive(received, position);
  if ('rejection' in outcome) return null;
  const { reading, closed } = outcome.output;
  range.marks.add(before, reading);
  const isRoundLate = closed.round?.roundId === range.openRoundId;
  const isBucketLate = closed.bucket?.startMs === range.openBucketMs;
  if (!isRoundLate && !isBucketLate) return outcome.output;
  if (isRoundLate) range.round = closed.round;
  if (isBucketLate) range.bucket = closed.bucket;
  const round = isRoundLate ? null : closed.round;
  const bucket = isBucketLate ? null : closed.bucket;
  return { reading, closed: { round, bucket } };
}

interface OpenRange {
  readonly first: AcceptedReading;
  readonly actor: InstallationActor;
  readonly marks: NewMarks;
  /** What was open at the first reading, and what it was when it closed. */
  readonly openRoundId: number;
  readonly openBucketMs: number;
  round: RangeRounds['round'];
  bucket: RangeRounds['bucket'];
}

function openRange(first: AcceptedReading, genesisMs: number): OpenRange {
  const acceptance: AcceptanceState = { latest: first, earlierBoots: [], earlierEpochs: [] };
  const roundState = beginRounds(first);
  return {
    first,
    actor: createInstallationActor(first.installationId, genesisMs, { acceptance, roundState }),
    marks: createNewMarks(),
    openRoundId: findRound(first.observedAtMs, genesisMs),
    openBucketMs: roundState.bucket.startMs,
    round: null,
    bucket: null,
  };
}

function stateOf({ actor }: OpenRange): InstallationState {
  const state = actor.state();
  if (state === null) throw new Error('an installation of a range has a first reading');
  return state;
}
