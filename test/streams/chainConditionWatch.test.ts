import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import { expect, it, vi } from 'vitest';
import type { ChainConditions } from '../../actors/views/chain/chainViewTypes.ts';
import { watchChainConditions } from '../../streams/health/chainConditionWatch.ts';

const all = (condition: ChainConditions['core']): ChainConditions => ({
  core: condition,
  economy: condition,
  checkedIssuance: condition,
});

it('the condition of the chain is logged and shown once per change', async () => {
  vi.useFakeTimers();
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
  const unknown = await registry.metrics();
  conditions = all('projection_rebuilding');
  vi.advanceTimersByTime(10_000);
  conditions = all('available');
  vi.advanceTimersByTime(10_000);
  conditions = { ...all('available'), checkedIssuance: 'supply_differs' };
  vi.advanceTimersByTime(10_000);
  const metrics = await registry.metrics();
  watching.unsubscribe();
  conditions = all('indexer_unavailable');
  vi.advanceTimersByTime(10_000);
  vi.useRealTimers();
  expect(unknown).not.toContain('miner_chain_condition{');
  expect(lines).toEqual([
    ['info', all('projection_rebuilding')],
    ['info', all('available')],
    ['warn', { ...all('available'), checkedIssuance: 'supply_differs' }],
  ]);
  expect(metrics).toContain('miner_chain_condition{views="core",condition="available"} 1');
  expect(metrics).toContain('miner_chain_condition{views="checkedIssuance",condition="supply_differs"} 1');
  expect(metrics.match(/^miner_chain_condition\{/gm)).toHaveLength(3);
});
