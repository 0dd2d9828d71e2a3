import type { ResourceName } from './page.ts';

const second = 1_000;

/**
 * How often a visible resource is read again. The status is read as often as a person sees a difference. The others change with
 * the chain or every half hour, and each chain event triggers a read.
 */
export const intervalsMs: Readonly<Record<ResourceName, number>> = {
  status: 5 * second,
  core: 60 * second,
  issuance: 60 * second,
  statistics: 60 * second,
  year: 600 * second,
  settlements: 60 * second,
  events: 120 * second,
  portfolio: 60 * second,
  activity: 60 * second,
  metadata: 600 * second,
};

export const statusPath = '/v1/status';
export const corePath = '/v1/core';
export const issuancePath = '/v1/mining/state';
export const statisticsPath = (range: string) => `/v1/measurement/stats?range=${range}`;
export const yearPath = '/v1/measurement/year';
export const settlementsPath = (range: string) => `/v1/settlements?range=${range}`;
export const eventsPath = (category: string) => `/v1/events?category=${category}&limit=40`;
export const portfolioPath = (address: string) => `/v1/owners/${encodeURIComponent(address)}/miners`;
export const activityPath = (address: string) => `/v1/owners/${encodeURIComponent(address)}/activity`;
export const metadataPath = (tokenId: string) => `/v1/miners/${tokenId}/metadata`;
