import type { z } from 'zod';
import type { Place } from '../addresses/place.ts';
import type { CoreResponse } from '../responses/chain/core.ts';
import type { miningStateResponse } from '../responses/chain/issuance.ts';
import type { plainOwnerActivityResponse } from '../responses/chain/ownerActivity.ts';
import type { plainPortfolioResponse } from '../responses/chain/portfolio.ts';
import type { plainSettlementsResponse } from '../responses/chain/settlements.ts';
import type { plainMetadataResponse } from '../responses/chain/tokenMetadata.ts';
import type { eventsResponse } from '../responses/feed/events.ts';
import type { feedEvent } from '../responses/feed/feedEvent.ts';
import type { StatusResponse } from '../responses/process/status.ts';
import type { dayResponse } from '../responses/records/day.ts';
import type { transactionResponse } from '../responses/records/eventRecords.ts';
import type { minerResponse } from '../responses/records/miners.ts';
import type { roundResponse } from '../responses/records/rounds.ts';
import type { plainStatisticsResponse } from '../responses/statistics/statistics.ts';

/** Bodies of the routes that the explorer reads, typed by the routes' schemas. */
export interface Bodies {
  readonly status: StatusResponse;
  readonly core: CoreResponse;
  readonly issuance: z.infer<typeof miningStateResponse>;
  readonly statistics: z.infer<typeof plainStatisticsResponse>;
  readonly settlements: z.infer<typeof plainSettlementsResponse>;
  readonly events: z.infer<typeof eventsResponse>;
  readonly portfolio: z.infer<typeof plainPortfolioResponse>;
  readonly activity: z.infer<typeof plainOwnerActivityResponse>;
  readonly metadata: z.infer<typeof plainMetadataResponse>;
  readonly miner: z.infer<typeof minerResponse> | NotFound;
  readonly round: z.infer<typeof roundResponse>;
  readonly transaction: z.infer<typeof transactionResponse>;
  readonly day: z.infer<typeof dayResponse>;
}

/** The body of a route that knows no such record. */
interface NotFound {
  readonly error: 'not_found';
}

/** A body that has figures. */
export type Shown<Name extends keyof Bodies> = Extract<Bodies[Name], { readonly status: 'available' }>;

export type FeedEvent = z.infer<typeof feedEvent>;

/** Returns the body of the route at a path with its query, such as `/v1/measurement/stats?range=7d`; null if it has none at the moment. */
export type ReadBody = <Name extends keyof Bodies>(name: Name, path: string) => Bodies[Name] | null;

export interface PageSettings {
  /** URL prefix of a transaction's page, to which the hash is appended; null if transactions are not linked. */
  readonly transactionUrl: string | null;
  /** Public URL of the explorer, without a trailing slash; null if unknown. */
  readonly publicUrl: string | null;
  /** Public URL of each of the page's files, by plain name such as `page.js`. */
  readonly files: Readonly<Record<string, string>>;
}

/** The chain, and what is known of it while it cannot be read. */
export interface PageChain {
  readonly target: 'anvil' | 'sepolia' | 'mainnet';
  /** Why its current state cannot be shown; null if it can. */
  readonly reason: string | null;
  /** Block of the last known state, which pages show while they cannot show the current one; null if nothing is known. */
  readonly lastKnown: { readonly blockNumber: string; readonly at: string } | null;
}

export interface PageRequest {
  readonly place: Place;
  readonly nowMs: number;
  readonly settings: PageSettings;
  /** Null if no contracts are configured, or state is not restored yet. */
  readonly chain: PageChain | null;
  readonly read: ReadBody;
  /** Names of the parts that cannot be read at the moment, and when what is shown of each was read (epoch milliseconds). Complete once all is read. */
  readonly old: ReadonlyMap<string, number>;
}

interface RenderedPage {
  readonly html: string;
  /** The same without the time of its rendering. */
  readonly shown: string;
  /** Whether all bodies that it shows could be read. */
  readonly isComplete: boolean;
  /** When it becomes wrong even if nothing that it shows changes, in epoch milliseconds; infinite if never. */
  readonly expiresAtMs: number;
}

export type RenderPage = (request: PageRequest) => RenderedPage;

type FrameSettings = Pick<PageSettings, 'files' | 'publicUrl'>;

/** A document in the frame of the pages: their head, navigation, search and colours. */
export interface FrameRequest {
  readonly title: string;
  readonly description: string;
  /** Its path on this service. */
  readonly path: string;
  /** HTML of its own navigation and contents. */
  readonly html: string;
  /** Paths of its own styles and scripts. */
  readonly styles: readonly string[];
  readonly scripts: readonly string[];
  readonly settings: FrameSettings;
}

export interface RefusalRequest {
  readonly code: string;
  readonly settings: FrameSettings;
}
