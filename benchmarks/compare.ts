import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fillData } from './filledData.ts';
import { measureInterleaved, type Series } from './measureInterleaved.ts';
import { buildContender, pollingCases } from './pollingCases.ts';
import { describeRatios, divideTurns } from './ratios.ts';
import { minerProgram, startServiceProcess } from './serviceProcess.ts';
import { cpuPerRequest, serverCore } from './wrk.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface CompareOptions {
  readonly rounds: number;
}

/** Figures of this version divided by those of the other one, a ratio for each turn. */
export interface ComparedCase {
  /** The request. */
  readonly title: string;
  readonly rates: readonly number[];
  /** CPU time per request. */
  readonly cpu: readonly number[];
}

/** Prints what polling clients get from this version and from another one, as ratios with their spread. */
export async function compareVersions(reference: string, { rounds }: CompareOptions): Promise<void> {
  const compared = await measureVersions(reference, rounds);
  const lines = ['| request | rate: this × | CPU per request: this × |', '|---|---|---|'];
  for (const { title, rates, cpu } of compared)
    lines.push(`| ${title} | ${describeRatios(rates)} | ${describeRatios(cpu)} |`);
  process.stdout.write(
    `\n${lines.join('\n')}\n\nThis version against ${reference}: medians of ${rounds} turns, and between which two three quarters of them lie.\n`,
  );
}

/**
 * Measures this version and another one, in turns, over the same messages. The other version is built beside this one, with the packages of this one.
 *
 * @param reference a commit, branch or tag.
 * @throws Error where git does not know it, or it cannot be built.
 */
export async function measureVersions(reference: string, rounds: number): Promise<ComparedCase[]> {
  const dir = mkdtempSync(join(tmpdir(), 'miner-compare-'));
  const checkout = join(dir, 'checkout');
  const stops: (() => Promise<void>)[] = [];
  try {
    run('git', ['worktree', 'add', '--quiet', '--detach', checkout, reference], root);
    symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'));
    run(process.execPath, ['deploy/build.mjs', 'deploy'], checkout);
    const environment = await fillData(join(dir, 'this'));
    // The messages alone: each version folds them into tables of its own.
    cpSync(join(dir, 'this/nats'), join(dir, 'other/nats'), { recursive: true });
    const versions = [
      { name: 'this version', program: minerProgram, data: join(dir, 'this') },
      { name: reference, program: join(checkout, 'dist/deploy/miner.js'), data: join(dir, 'other') },
    ];
    const services = [];
    for (const { name, program, data } of versions) {
      const settings = { dir: data, installationId: '', environment, program, core: serverCore };
      const service = await startServiceProcess(settings);
      stops.push(service.stop);
      await service.readyAfterMs();
      services.push({ name, url: service.publicUrl, pid: service.pid });
    }
    const compared: ComparedCase[] = [];
    for (const [index, one] of pollingCases.entries()) {
      process.stderr.write(`${one.title}\n`);
      const contenders = await Promise.all(
        services.map((service) => buildContender(service.name, service, one)),
      );
      const series = await measureInterleaved(contenders, rounds, { areWarm: index > 0 });
      const [own, other] = series as [Series, Series];
      const rates = divideTurns(own.values, other.values);
      const cpu = divideTurns(own.others?.[cpuPerRequest] ?? [], other.others?.[cpuPerRequest] ?? []);
      compared.push({ title: one.title, rates, cpu });
    }
    return compared;
  } finally {
    for (const stop of stops) await stop();
    spawnSync('git', ['worktree', 'remove', '--force', checkout], { cwd: root });
    rmSync(dir, { recursive: true, force: true });
  }
}

/** @throws Error with what it wrote, when it fails. */
function run(program: string, args: readonly string[], cwd: string) {
  const { status, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${[program, ...args].join(' ')} failed: ${stderr}`);
}
