// `npm test` runs this after the bootstrap: formatting and lint, the build, types, and tests; with `--all` those that take long, too. The last
// line of output counts them, each check as one.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';

const root = resolve(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..');
const bin = (name) => join(root, 'node_modules', '.bin', name);
const counts = { passed: 0, failed: 0, skipped: 0 };

await check('formatting and lint', start(bin('biome'), ['check', '--error-on-warnings', '.']));
// Tests start what it builds.
await check('build', start(process.execPath, [join(root, 'deploy/build/build.mjs')]));
process.env.MINER_TEST_BUILD = 'done';
// The compilers run while the tests do, which wait now and then. One checker each takes a third of the time of a processor.
const types = start(bin('tsc'), ['--noEmit', '--checkers', '1']);
const explorerTypes = start(bin('tsc'), ['--noEmit', '--checkers', '1', '-p', 'http/explorer']);
const given = process.argv.slice(2).filter((argument) => argument !== '--all');
const projects = ['unit', 'parts', ...(process.argv.includes('--all') ? ['longer'] : [])];
await runTests([...projects.map((name) => `--project=${name}`), ...given]);
await check('types', types);
await check('types of the explorer', explorerTypes);

const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
console.log(`${counts.passed} passed, ${counts.failed} failed${skipped}`);
process.exitCode = counts.failed > 0 ? 1 : 0;

function start(command, args) {
  // The compiler is written in Go, and collects its garbage less often.
  const env = { ...process.env, GOGC: '400' };
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'], env });
  return Promise.all([text(child.stdout), once(child, 'close')]);
}

async function check(what, started) {
  const [output, [status]] = await started;
  process.stdout.write(output);
  console.log(`${what}: ${status === 0 ? 'passed' : 'FAILED'}`);
  counts[status === 0 ? 'passed' : 'failed']++;
}

/** A folder in memory if there is enough: data of servers that live for one test need not reach a disk. */
function findFastFolder() {
  const [folder, bytesNeeded] = ['/dev/shm', 4 * 1024 ** 3];
  try {
    const { bavail, bsize } = statfsSync(folder);
    return bavail * bsize >= bytesNeeded && freemem() >= 2 * bytesNeeded ? folder : tmpdir();
  } catch {
    return tmpdir();
  }
}

/** Ends a group of processes, if any of them still runs. */
function endGroup(pid, signal) {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (error.code !== 'ESRCH') throw error;
  }
}

async function runTests(filters) {
  const directory = mkdtempSync(join(tmpdir(), 'miner-test-report-'));
  const report = join(directory, 'report.json');
  try {
    const vitest = spawn(bin('vitest'), ['run', ...filters], {
      cwd: root,
      stdio: ['ignore', 'inherit', 'inherit'],
      // A group of its own, whose processes end with it.
      detached: true,
      env: { ...process.env, MINER_TEST_REPORT: report, TMPDIR: findFastFolder() },
    });
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
      process.on(signal, () => endGroup(vitest.pid, signal));
    const [status] = await once(vitest, 'close');
    endGroup(vitest.pid, 'SIGKILL');
    const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(readFileSync(report, 'utf8'));
    counts.passed += numPassedTests;
    counts.skipped += numPendingTests;
    // A file that does not load, or an error outside any test, fails the run without a failed test.
    counts.failed += Math.max(numFailedTests, status === 0 ? 0 : 1);
  } catch (error) {
    console.error(`the tests did not come to an end: ${error.message}`);
    counts.failed++;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
