import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import {
  distinctUntilChanged,
  filter,
  ignoreElements,
  interval,
  map,
  type Observable,
  startWith,
  tap,
} from 'rxjs';
import { registerMetrics } from '../../actors/registerMetrics.ts';
import type { ChainCondition } from '../../actors/views/chain/chainConditions.ts';
import type { ChainConditions } from '../../actors/views/chain/chainViews.ts';

const intervalMs = 1_000;

/** Conditions that need no action; any other is logged as a warning. */
const expectedConditions: ReadonlySet<ChainCondition> = new Set<ChainCondition>([
  'available',
  'indexer_disabled',
  'projection_rebuilding',
  'not_yet_safe',
]);

interface ChainConditionWatchOptions {
  /** Null while the process does not follow the chain, as a standby. */
  readonly conditions: () => ChainConditions | null;
  readonly logger: Logger;
  readonly registry: Registry;
}

/**
 * Shows operators why chain views are unavailable, in more detail than responses do: one log line per change, and a metric.
 *
 * @returns an observable that emits nothing. It checks the conditions every second while subscribed.
 */
export function watchChainConditions({
  conditions: readConditions,
  logger,
  registry,
}: ChainConditionWatchOptions): Observable<never> {
  registerMetrics(registry, {
    miner_chain_condition: [
      'Condition of chain views: 1 for `available`, or for the reason; absent while the process does not follow the chain.',
      () => Object.entries(readConditions() ?? {}).map(([views, condition]) => [1, views, condition]),
      'views',
      'condition',
    ],
  });

  function report(conditions: ChainConditions) {
    const isExpected = Object.values(conditions).every((one) => expectedConditions.has(one));
    logger[isExpected ? 'info' : 'warn']({ conditions }, 'the condition of the chain views has changed');
  }

  return interval(intervalMs).pipe(
    startWith(0),
    map(readConditions),
    filter((conditions) => conditions !== null),
    distinctUntilChanged((before, now) => JSON.stringify(before) === JSON.stringify(now)),
    tap(report),
    ignoreElements(),
  );
}
