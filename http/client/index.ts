export { type Client, createClient } from './client.ts';
export { type Decimals, formatUnits } from './decimals.ts';
export type { EventsOptions, StreamedEvent } from './events.ts';
export type { Page, PagedPath } from './pages.ts';
export type { PollOptions } from './poll.ts';
export type { Body, ClientOptions, Parameters, Path, RequestOptions } from './request.ts';
export type * from './responses.ts';
export { ServiceError } from './serviceError.ts';
