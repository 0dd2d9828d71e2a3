import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { ContractAddresses } from '../../actors/chain/spans/chainEvent.ts';
import type { RecentReadings } from '../../storage/reading/recentReadings.ts';
import type { MessageCounts } from '../pipeline/messageCounts.ts';
import type { StreamFold } from '../pipeline/streamFold.ts';

export interface FoldedDeployment {
  readonly installationId: string;
  /** Start of round 1 (Unix seconds). */
  readonly genesisTimestamp: number;
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

/** How one stream differs from the others. Its subjects are in `actors/messages/subjects.ts`, its tables in `storage/tables/rowTables.ts`. */
export interface StreamDefinition<Actors> {
  /** The actors that receive its messages; null if the deployment has none. */
  createActors(deployment: FoldedDeployment): Actors;
  createFold(actors: NonNullable<Actors>, dependencies: FoldDependencies): StreamFold;
}
