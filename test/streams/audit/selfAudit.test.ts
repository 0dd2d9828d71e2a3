import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import type { ChainState } from '../../../actors/chain/state/chainState.ts';
import { createSelfAudit } from '../../../streams/audit/selfAudit.ts';

/** An audit of blocks whose differences the test sets. */
function startAudit() {
  const world = {
    safe: [1, 200] as readonly [number, number],
    wrong: new Set<bigint>(),
    draw: 0,
    isFailing: false,
  };
  const audited: bigint[] = [];
  const said: unknown[] = [];
  const note = ({ about }: { about?: string }, text: string) =>
    said.push(`${about ?? 'sample'}: ${text.split(/[;`]/, 1)}`);
  const registry = new Registry();
  const audit = createSelfAudit({
    safeStates: () =>
      Array.from({ length: world.safe[1] - world.safe[0] + 1 }, (_, index) => ({
        block: { number: BigInt(world.safe[0] + index) },
      })) as ChainState[],
    auditBlock: async ({ block: { number } }: ChainState) => {
      if (world.isFailing) throw new Error('the node does not answer');
      audited.push(number);
      if (!world.wrong.has(number)) return { outcome: 'agrees' };
      return { outcome: 'drift', about: `block ${number}`, differences: ['one'], repair: 'index' };
    },
    everyMs: 60_000,
    random: () => world.draw,
    registry,
    logger: { error: note, info: note, warn: note } as unknown as Logger,
  });
  const sample = async (draw: number) => {
    world.draw = draw;
    await audit.sample();
    return audited.splice(0);
  };
  const shown = async () => (await registry.metrics()).match(/^miner_audit\S+ [1-9].*$/gm);
  return { world, audit, sample, said, shown };
}

it('the self-audit samples newest safe blocks, and known differences again', async () => {
  const { world, audit, sample, said, shown } = startAudit();
  expect([await sample(0), await sample(0.999)]).toEqual([[137n], [200n]]);
  world.wrong.add(137n);
  expect([await sample(0), await sample(0.999)]).toEqual([[137n], [137n, 200n]]);
  expect(audit.drifts()).toEqual([{ about: 'block 137', differences: ['one'], repair: 'index' }]);
  expect(await shown()).toEqual([
    'miner_audit_samples_total{outcome="agrees"} 3',
    'miner_audit_samples_total{outcome="drift"} 1',
    'miner_audit_drifts 1',
  ]);
  // It stays a difference below the sampled blocks, while its state is kept.
  world.safe = [100, 300];
  expect(await sample(0.999)).toEqual([137n, 300n]);
  world.wrong.clear();
  await sample(0.999);
  expect(audit.drifts()).toEqual([]);
  world.wrong.add(300n);
  await sample(0.999);
  world.safe = [301, 302];
  await sample(0);
  expect([audit.drifts(), said]).toEqual([
    [],
    [
      'block 137: the state differs from the node',
      'block 137: a known difference no longer exists',
      'block 300: the state differs from the node',
      'block 300: a known difference can no longer be compared',
    ],
  ]);
});

it('the self-audit knows a limited number of differences', async () => {
  const { world, audit, sample, said, shown } = startAudit();
  for (let index = 0; index < 20; index++) {
    world.wrong.add(BigInt(137 + index));
    await sample(index / 64);
  }
  expect(audit.drifts()).toHaveLength(16);
  expect(said).toHaveLength(20);
  world.isFailing = true;
  for (let index = 0; index < 2; index++) await sample(0);
  world.isFailing = false;
  await sample(0);
  world.isFailing = true;
  await sample(0);
  expect(said.slice(20)).toEqual([
    'sample: a safe block cannot be compared with the node',
    'sample: a safe block cannot be compared with the node',
  ]);
  expect(await shown()).toContain('miner_audit_samples_total{outcome="skipped"} 3');
});
