import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import { expect, it, vi } from 'vitest';
import type { ChainConditions } from '../../actors/views/chain/chainViews.ts';
import { watchChainConditions } from '../../streams/health/chainConditionWatch.ts';
import { useVirtualTime } from '../support/fakeTimers.ts';

const all = (condition: ChainConditions['core']): ChainConditions => ({
  core: condition,
  economy: condition,
  checkedIssuance: condition,
});

useVirtualTime();

it('the condition of the chain is logged and shown once per change', async () => {
  let conditions: ChainConditions | null = null;
  const lines: [string, unknown][] = [];
  const registry = new Registry();
  const note = (level: string) => (given: { conditions: unknown }) => lines.push([level, given.conditions]);
  const watching = watchChainConditions({
    conditions: () => conditions,
    logger: { info: note('info'), warn: note('warn') } as unknown as Logger,
    registry,
  }).subscribe();
  vi.advanceTimersByTime(10_000);
  const shown = async () => (await registry.metrics()).match(/(?<=^miner_chain_condition).*$/gm);
  expect(await shown()).toBeNull();
  conditions = all('projection_rebuilding');
  vi.advanceTimersByTime(10_000);
  expect(await shown()).toHaveLength(3);
  conditions = all('available');
  vi.advanceTimersByTime(10_000);
  conditions = { ...all('available'), checkedIssuance: 'supply_differs' };
  vi.advanceTimersByTime(10_000);
  // Nothing is left of the conditions before.
  expect(await shown()).toEqual([
    '{views="core",condition="available"} 1',
    '{views="economy",condition="available"} 1',
    '{views="checkedIssuance",condition="supply_differs"} 1',
  ]);
  watching.unsubscribe();
  conditions = all('indexer_unavailable');
  vi.advanceTimersByTime(10_000);
  expect(lines).toEqual([
    ['info', all('projection_rebuilding')],
    ['info', all('available')],
    ['warn', { ...all('available'), checkedIssuance: 'supply_differs' }],
  ]);
});
