import type { EventSource } from './chain/spans/chainEvent.ts';
import type { OwnerEvent } from './chain/state/ownerState.ts';
import type { Checkpoint, Settlement } from './chain/state/settlements.ts';
import type { StoredCategory } from './feed/feedCategories.ts';
import type { Address } from './schemas/hex.ts';
import type { AcceptedReading } from './wheel/acceptedReading.ts';

/**
 * What the folds hand to ClickHouse. Each row is a fact that never changes once written: its key
 * is natural, and its version is the stream sequence that made it, so writing it again changes nothing.
 */

/** An observed round: every instant of it is covered by readings (CONTRACT.md, Time, rounds and days). A missing round has no row. */
export interface RoundRow {
  readonly installationId: string;
  /** From 1, the round that starts at the genesis. */
  readonly roundId: number;
  /** Epoch milliseconds. */
  readonly startMs: number;
  readonly workUnits: bigint;
  /** Sequence of the reading that closed the round. */
  readonly position: number;
}

/** A half-hour bucket that held readings, written when the first reading after it arrives. */
export interface BucketRow {
  readonly installationId: string;
  /** Epoch milliseconds, a multiple of 1,800,000. */
  readonly startMs: number;
  /** 0 to 3. */
  readonly observedRoundCount: number;
  /** Work of its observed rounds; other work is unknown. */
  readonly workUnits: bigint;
  readonly readingCount: number;
  /** Largest values of its readings, with the time of the first reading that had them (epoch milliseconds). */
  readonly maxDistanceMm: number;
  readonly peakRpmMilli: number;
  readonly peakRpmAtMs: number;
  readonly peakSpeedMmPerSecond: number;
  readonly peakSpeedAtMs: number;
  /** Sequence of the reading that closed the bucket. */
  readonly position: number;
}

/** An event of the feed that has left memory. */
export interface EventRow {
  /** Run of the fold that made it (`actors/events/eventWindow.ts`). */
  readonly run: string;
  /** The category of the feed that its type is of. */
  readonly category: StoredCategory;
  /** Sequence of the message that made it visible, in the stream of its source; and its place among the events of that message. */
  readonly position: number;
  readonly ordinal: number;
  /** Empty for an event of the chain. */
  readonly installationId: string;
  readonly id: string;
  readonly type: string;
  /** Epoch milliseconds; the feed's order is by it. */
  readonly recordedAtMs: number;
  /** When that message was stored (epoch milliseconds). */
  readonly arrivedAtMs: number;
  /** The event as JSON. */
  readonly event: string;
}

/** An event of an owner's activity that no reorganization can take away any more (`actors/chain/rows/activityRows.ts`). */
export interface OwnerActivityRow
  extends Omit<OwnerEvent, 'source' | 'address' | 'from' | 'to'>,
    EventSource {
  /** Run of the fold that made it, as for an event of the feed. */
  readonly run: string;
  readonly owner: Address;
  /** Its number among the owner's events, from 0. */
  readonly eventNumber: number;
  /** Of the contract that logged it. */
  readonly contractAddress: Address;
  readonly fromAddress: Address | null;
  readonly toAddress: Address | null;
}

/** A batch that the core recorded in a final block. What is minted for its rounds is told by the checkpoints. */
export interface SettlementRow extends Omit<Settlement, 'source' | 'mintedBaseUnits'>, EventSource {
  readonly run: string;
  /** Its number among all, from 0. */
  readonly settlementNumber: number;
}

/** A checkpoint of mining in a final block. */
export interface CheckpointRow extends Omit<Checkpoint, 'source'>, EventSource {
  readonly run: string;
  /** Its number among all, from 0. */
  readonly checkpointNumber: number;
}

/** Rows of a contiguous piece of a stream, in order of position. */
export interface StoredRows {
  readonly readings: readonly AcceptedReading[];
  readonly rounds: readonly RoundRow[];
  readonly buckets: readonly BucketRow[];
  readonly measurementEvents: readonly EventRow[];
  readonly chainEvents: readonly EventRow[];
  readonly ownerActivity: readonly OwnerActivityRow[];
  readonly settlements: readonly SettlementRow[];
  readonly checkpoints: readonly CheckpointRow[];
  /** Every message up to this sequence is folded; its rows are here or were emitted before. */
  readonly throughPosition: number;
}

/** A piece of a stream that makes nothing. */
export const noRows: Omit<StoredRows, 'throughPosition'> = {
  readings: [],
  rounds: [],
  buckets: [],
  measurementEvents: [],
  chainEvents: [],
  ownerActivity: [],
  settlements: [],
  checkpoints: [],
};
