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
import type { yearResponse } from '../responses/statistics/year.ts';
import type { Place } from './place.ts';

/** Bodies of the routes that the explorer reads, typed by the routes' schemas. */
export interface Bodies {
  readonly status: StatusResponse;
  readonly core: CoreResponse;
  readonly issuance: z.infer<typeof miningStateResponse>;
  readonly statistics: z.infer<typeof plainStatisticsResponse>;
  readonly year: z.infer<typeof yearResponse>;
  readonly settlements: z.infer<typeof plainSettlementsResponse>;
  readonly events: z.infer<typeof eventsResponse>;
  readonly portfolio: z.infer<typeof plainPortfolioResponse>;
  readonly activity: z.infer<typeof plainOwnerActivityResponse>;
  readonly metadata: z.infer<typeof plainMetadataResponse>;
}
/** Miners and transactions are searched for in this many of the newest events, since these have no order of their own. */
export const searchedEventsMax = 2_000;

export type FeedEvent = z.infer<typeof feedEvent>;
export type ResourceName = keyof Bodies;

interface Problem {
  /** HTTP status; 0 if the service was not reached. */
  readonly status: number;
  /** Error code of the body; empty if it has none. */
  readonly code: string;
  /** Time of the next attempt, in epoch milliseconds. */
  readonly retryAtMs: number;
}

/** State of one resource. A problem does not remove the body that was read before. */
export interface Resource<Body> {
  readonly body: Body | null;
  readonly problem: Problem | null;
}

/** Returns the state of the resource at a path with its query, such as `/v1/measurement/stats?range=7d`. */
export type ReadResource = <Name extends ResourceName>(name: Name, path: string) => Resource<Bodies[Name]>;

/** Settings that a page is rendered with. */
export interface PageSettings {
  /** URL prefix of a transaction's page, to which the hash is appended; null if transactions are not linked. */
  readonly transactionUrl: string | null;
  /** Public URL of the explorer, without a trailing slash; null if unknown. */
  readonly publicUrl: string | null;
  /** Public URL of each of the page's files, by plain name such as `explorer.js`. */
  readonly files: Readonly<Record<string, string>>;
}

export interface Connection {
  readonly isOnline: boolean;
  /** `shared`: another tab of this browser holds the stream and forwards its events. */
  readonly stream: 'closed' | 'connecting' | 'open' | 'shared';
}

export interface PageRequest {
  readonly place: Place;
  /** Time of rendering, in epoch milliseconds. */
  readonly nowMs: number;
  readonly settings: PageSettings;
  /** Returns the body of a route; null if it has none at the moment. */
  readonly read: (path: string) => unknown;
  /** Events of a record, newest first; null if they cannot be read at the moment. */
  readonly events: readonly FeedEvent[] | null;
}

export type RenderPage = (request: PageRequest) => string;
