import type { Clock } from '../../actors/clock.ts';
import type { InputStreamName } from '../../actors/messages/subjects.ts';
import type { SnapshotChain, SnapshotStore } from '../../storage/snapshots.ts';
import type { StreamPosition } from '../jetstream/streamPosition.ts';
import type { CapturedState } from './pipelineItem.ts';
import type { StreamFold } from './streamFold.ts';

export interface StateSaverOptions {
  readonly stream: InputStreamName;
  readonly fold: StreamFold;
  readonly snapshots: SnapshotStore;
  readonly clock: Clock;
}

/** What is stored of a state. */
export interface SavedState {
  /** By the wall clock. */
  readonly takenAtMs: number;
  /** As it is stored, with everything that restoring it reads. */
  readonly bytes: number;
}

/** Captures the state of a fold, and saves what was captured. */
export interface StateSaver {
  capture(place: StreamPosition): CapturedState;
  /** One after another, in the order in which they were captured. */
  save(captured: CapturedState): Promise<SavedState>;
  /** Another state was restored: a whole one is saved first. */
  reset(): void;
}

/**
 * Saves a whole state first, then what changed since the state before. A whole one follows once increments are as large, once one
 * could not be saved, and where what changed is not known.
 */
export function createStateSaver({ stream, fold, snapshots, clock }: StateSaverOptions): StateSaver {
  let captures = 0;
  /** What was saved last, of the capture of that number. */
  let saved: { readonly chain: SnapshotChain; readonly number: number } | null = null;

  async function save({ place, state, number }: CapturedState): Promise<SavedState> {
    const { streamCreated, position, digest } = place;
    if (streamCreated === null) throw new Error('a snapshot needs a folded message');
    const takenAtMs = clock.nowMs();
    const header = { stream, ...fold.identity, streamCreated, position, digest, takenAtMs };
    const before = saved;
    // Whether a save that fails has stored something is not known.
    saved = null;
    const isNext = before?.number === number - 1 && snapshots.canExtend(before.chain);
    const chain =
      isNext && state.changes !== null
        ? await snapshots.saveIncrement(before.chain, header, state.changes())
        : await snapshots.saveBase(header, state.all());
    saved = { chain, number };
    return { takenAtMs, bytes: chain.baseBytes + chain.incrementBytes };
  }

  return {
    capture: (place) => ({ place, state: fold.capture(), number: ++captures }),
    save,
    reset: () => {
      saved = null;
    },
  };
}
