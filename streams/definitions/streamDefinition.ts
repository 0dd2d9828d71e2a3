import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { ContractAddresses } from '../../actors/chain/spans/chainEvent.ts';
import type { Rejection } from '../../actors/messages/decodeMessage.ts';
import type { StreamMessage } from '../../actors/messages/streamMessage.ts';
import type { ReadingBounds } from '../../actors/wheel/decodeCounter.ts';
import type { Database } from '../../storage/clickhouse/database.ts';
import type { RecentReadings } from '../../storage/reading/recentReadings.ts';
import type { OldestReadingMs } from '../../storage/rows/readingsTtl.ts';
import type { StreamVerifier } from '../jetstream/proofs/streamVerifier.ts';
import type { ReadStored } from '../jetstream/source/missingMessages.ts';
import type { MessageCounts } from '../pipeline/messageCounts.ts';
import type { StreamFold } from '../pipeline/streamFold.ts';

export interface FoldedDeployment {
  readonly installationId: string;
  /** Start of round 1 (Unix seconds). */
  readonly genesisTimestamp: number;
  /** Fastest speed that a wheel can have; omitted if any is possible. */
  readonly maximumSpeedMmPerSecond?: number | undefined;
  /** Number of installations with places in each fold, not counting the public one; omitted for the default. */
  readonly installationsMax?: number | undefined;
  /** Null when no contracts are configured. */
  readonly onChain: {
    readonly chain: { readonly chainId: bigint; readonly deploymentBlock: bigint };
    readonly contracts: ContractAddresses;
  } | null;
}

export interface FoldDependencies {
  readonly recent: RecentReadings;
  readonly counts: MessageCounts;
  readonly logger: Logger;
  readonly registry: Registry;
}

export interface StoredReaderOptions {
  readonly database: Database;
  readonly verifier: StreamVerifier;
  readonly oldestReadingMs: OldestReadingMs;
  readonly logger: Logger;
}

/** Remedy for a stream that `miner replay` only compares. */
export const refill =
  'fill another database from the streams: deploy/RUNBOOK.md, "Moving to another database"';

/** Why the service would reject a message, if it were stored at its time; null if it would accept it. */
type Judge = (message: StreamMessage) => Rejection | null;

/** The rejection of what a decoder or an actor returns, if it is one. */
export function findRejection(outcome: unknown): Rejection | null {
  const isRejection = (value: unknown): value is { readonly rejection: Rejection } =>
    typeof value === 'object' && value !== null && 'rejection' in value;
  return isRejection(outcome) ? outcome.rejection : null;
}

/** How one stream differs from the others. Its subjects are in `actors/messages/subjects.ts`, its tables in `storage/tables/rowTables.ts`. */
export interface StreamDefinition<Actors> {
  /** The actors that receive its messages; null if the deployment has none. */
  createActors(deployment: FoldedDeployment): Actors;
  createFold(actors: NonNullable<Actors>, dependencies: FoldDependencies): StreamFold;
  /** Creates what judges one of its messages by itself, for `miner check-message`. */
  judgeContent(bounds: ReadingBounds): Judge;
  /** How to make rows and state anew if they differ from a message on. */
  readonly remedyFrom: (message: number) => string;
  /** Creates the reader of what is stored of messages that have left the stream; omitted if nothing is. */
  createStoredReader?(options: StoredReaderOptions): ReadStored;
}
