// `npm test` runs this after the bootstrap: formatting and lint, the build, types, and all tests. The last line of output counts them, each
// check as one.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const root = resolve(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..');
const bin = (name) => join(root, 'node_modules', '.bin', name);
const counts = { passed: 0, failed: 0, skipped: 0 };

check('formatting and lint', bin('biome'), ['check', '--error-on-warnings', '.']);
// The build writes the client's types.
check('build', process.execPath, [join(root, 'deploy/build/build.mjs')]);
process.env.MINER_TEST_BUILD = 'done';
check('types', bin('tsc'), ['--noEmit']);
check('types of the explorer', bin('tsc'), ['--noEmit', '-p', 'http/explorer']);
runTests(process.argv.slice(2));

const skipped = counts.skipped > 0 ? `, ${counts.skipped} skipped` : '';
console.log(`${counts.passed} passed, ${counts.failed} failed${skipped}`);
process.exitCode = counts.failed > 0 ? 1 : 0;

function check(what, command, args) {
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
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

function runTests(filters) {
  const directory = mkdtempSync(join(tmpdir(), 'miner-test-report-'));
  const report = join(directory, 'report.json');
  try {
    const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`];
    const { status } = spawnSync(bin('vitest'), ['run', ...reporters, ...filters], {
      cwd: root,
      stdio: 'inherit',
      env: { ...process.env, TMPDIR: findFastFolder() },
    });
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
