import type { z } from 'zod';
import type { CoreResponse } from '../responses/chain/core.ts';
import type { miningStateResponse } from '../responses/chain/issuance.ts';
import type { plainOwnerActivityResponse } from '../responses/chain/ownerActivity.ts';
import type { plainPortfolioResponse } from '../responses/chain/portfolio.ts';
import type { plainSettlementsResponse } from '../responses/chain/settlements.ts';
import type { plainMetadataResponse } from '../responses/chain/tokenMetadata.ts';
import type { eventsResponse } from '../responses/feed/events.ts';
import type { feedEvent } from '../responses/feed/feedEvent.ts';
import type { StatusResponse } from '../responses/process/status.ts';
import type { plainStatisticsResponse } from '../responses/statistics/statistics.ts';
import type { Place } from './place.ts';

/** Bodies of the routes that the explorer reads: the types of the routes' own schemas. */
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
}
export type FeedEvent = z.infer<typeof feedEvent>;
export type ResourceName = keyof Bodies;

interface Problem {
  /** HTTP status; 0 where the service was not reached. */
  readonly status: number;
  /** Error code of the body, empty where there is none. */
  readonly code: string;
  /** When it is tried again, in epoch milliseconds. */
  readonly retryAtMs: number;
}

/** What is known of one resource. A problem does not remove the body that was read before it. */
export interface Resource<Body> {
  readonly body: Body | null;
  readonly problem: Problem | null;
}

/** Reads what is known of a resource at a path with its query, such as `/v1/measurement/stats?range=7d`. */
export type ReadResource = <Name extends ResourceName>(name: Name, path: string) => Resource<Bodies[Name]>;

/** What the page is rendered with besides figures. */
export interface PageSettings {
  /** Address of a transaction without its hash; null: transactions are not linked. */
  readonly transactionUrl: string | null;
  /** Address of the pages as others open them, without a slash at its end; null where it is not known. */
  readonly publicUrl: string | null;
  /** Public names of the page's files by their plain names, such as `explorer.js`. */
  readonly files: Readonly<Record<string, string>>;
}

export interface PageRequest {
  readonly place: Place;
  /** When the page is rendered, in epoch milliseconds. */
  readonly nowMs: number;
  readonly settings: PageSettings;
  /** The body of a route, null where it has none at the moment. */
  readonly read: (path: string) => unknown;
}

export type RenderPage = (request: PageRequest) => string;
