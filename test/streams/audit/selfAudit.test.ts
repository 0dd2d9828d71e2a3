import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import type { ChainState } from '../../../actors/chain/state/chainState.ts';
import { createSelfAudit, registerAuditMetrics, type SelfAudit } from '../../../streams/audit/selfAudit.ts';

/** An audit of blocks whose differences the test sets; half hours are not audited without a snapshot. */
function startAudit() {
  const world = {
    safe: [1, 200] as readonly [number, number],
    wrong: new Set<bigint>(),
    draw: 0,
    isFailing: false,
  };
  const audited: bigint[] = [];
  const said: unknown[] = [];
  const note = ({ about, kind }: { about?: string; kind?: string }, text: string) =>
    said.push(`${about ?? kind}: ${text.split(/[;`]/, 1)}`);
  const registry = new Registry();
  const audit: SelfAudit = createSelfAudit(
    {
      snapshots: { list: async () => [] },
      safeStates: () =>
        Array.from({ length: world.safe[1] - world.safe[0] + 1 }, (_, index) => ({
          block: { number: BigInt(world.safe[0] + index) },
        })) as ChainState[],
      blockAudit: async ({ block: { number } }: ChainState) => {
        if (world.isFailing) throw new Error('the node does not answer');
        audited.push(number);
        const about = `block ${number}`;
        if (!world.wrong.has(number)) return { outcome: 'agrees', about };
        return {
          outcome: 'drift',
          about,
          key: `${number}`,
          sample: number,
          differences: ['one'],
          repair: 'index',
        };
      },
      random: () => world.draw,
      logger: { error: note, info: note, warn: note } as unknown as Logger,
    } as unknown as Parameters<typeof createSelfAudit>[0],
    registerAuditMetrics(registry, () => audit.drifts()),
  );
  const sample = async (draw: number) => {
    world.draw = draw;
    await audit.sample();
    return audited.splice(0);
  };
  const shown = async () =>
    (await registry.metrics())
      .match(/^miner_audit\S+safe_block\S* [1-9].*$/gm)
      ?.map((line) => line.replace(/kind="safe_block",?/, ''));
  return { world, audit, sample, said, shown };
}

it('the self-audit samples newest safe blocks, and known differences again', async () => {
  const { world, audit, sample, said, shown } = startAudit();
  expect([await sample(0), await sample(0.999)]).toEqual([[137n], [200n]]);
  world.wrong.add(137n);
  expect([await sample(0), await sample(0.999)]).toEqual([[137n], [137n, 200n]]);
  expect(audit.drifts()).toEqual([
    { kind: 'safe_block', about: 'block 137', differences: ['one'], repair: 'index' },
  ]);
  expect(await shown()).toEqual([
    'miner_audit_samples_total{outcome="agrees"} 3',
    'miner_audit_samples_total{outcome="drift"} 1',
    'miner_audit_drifts{} 1',
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
      'block 137: stored or shown values differ from their source',
      'block 137: a known difference no longer exists',
      'block 300: stored or shown values differ from their source',
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
    'safe_block: a sample cannot be compared',
    'safe_block: a sample cannot be compared',
  ]);
  expect(await shown()).toContain('miner_audit_samples_total{outcome="skipped"} 3');
});
