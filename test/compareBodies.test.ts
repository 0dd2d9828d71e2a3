import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { startProcess } from './support/processes/childProcess.ts';
import { temporaryDirectory } from './support/processes/temporaryDirectory.ts';

const tool = resolve(import.meta.dirname, 'compareBodies.mjs');
const program = resolve(import.meta.dirname, '../dist/deploy/miner.js');

async function compareBodies(...args: string[]) {
  const run = startProcess(process.execPath, [tool, ...args]);
  return { status: await run.exited, output: run.output() };
}

describe('the comparison of two builds', () => {
  it('finds no difference between a build and itself, and each one that there is', async () => {
    const dir = temporaryDirectory();
    const streams = join(dir, 'streams');
    const first = join(dir, 'first');
    const second = join(dir, 'second');
    const published = await compareBodies(
      'streams',
      '--program',
      program,
      '--out',
      streams,
      '--past-days',
      '0.1',
    );
    expect(published).toMatchObject({ status: 0 });
    for (const out of [first, second]) {
      const args = ['record', '--program', program, '--streams', streams, '--out', out, '--through', 'first'];
      expect(await compareBodies(...args)).toMatchObject({ status: 0 });
    }
    const alike = await compareBodies('compare', first, second);
    expect(alike.output).toMatch(/^[1-9]\d{2,} compared, 0 different\n$/);
    expect(alike.status).toBe(0);

    const alter = (name: RegExp, from: string | RegExp, to: string) => {
      const folder = join(second, 'first');
      const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
      const file = join(folder, files.find((one) => name.test(one)) ?? 'missing');
      const text = readFileSync(file, 'utf8');
      writeFileSync(file, text.replace(from, to));
      expect(readFileSync(file, 'utf8')).not.toBe(text);
    };
    alter(/^GET-v1-core-[0-9a-f]{8}\.txt$/, '"paused":false', '"paused":true');
    alter(/^GET-v1-status-[0-9a-f]{8}\.txt$/, /^etag: "/m, 'etag: "x');
    alter(/^GET-v1-unknown-/, '404', '410');
    alter(/^stored\/rounds_g1\.jsonl$/, /"work_units":"?/, '$&1');
    const altered = await compareBodies('compare', first, second);
    expect(altered.status).toBe(1);
    expect(altered.output).toContain('body.core.paused: false -> true');
    expect(altered.output).toMatch(/- etag: "[^x].*\n +\+ etag: "x/);
    expect(altered.output).toMatch(/- 404\n +\+ 410/);
    expect(altered.output).toMatch(/compared, 4 different\n$/);
  });
});
