// `npm run mutate -- FOLDER...`: Stryker changes the program in one place at a time, and lists the changes that no quick test notices. A path
// may be a file, or a folder, which stands for its files without I/O. The report is `data/mutation/report.html`; the next run tries again
// only what has changed, and surviving constants. `--sample N` tries only N changes, drawn by chance: their score estimates the score of all.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const root = resolve(import.meta.dirname, '../..');
const everything = ['actors', 'machines', 'storage', 'streams/operators', 'http'];
/** Imports of files that do I/O: sockets, files, the event loop, ClickHouse, and the parts of the program around them, or their types. */
const io =
  /'(?:uWebSockets\.js|node:(?:fs|module|perf_hooks)\b.*|@clickhouse\/client|.*\/(?:database|responseWriter|mount|explorerBuild)\.ts)'|\bfetch\(/;

const {
  values: { sample, seed },
  positionals,
} = parseArgs({
  allowPositionals: true,
  options: { sample: { type: 'string', default: '0' }, seed: { type: 'string', default: '1' } },
});
const sampleSize = Number(sample);
if (positionals.length === 0 || !Number.isSafeInteger(sampleSize)) {
  console.error(
    `usage: npm run mutate -- all | FOLDER or FILE... [--sample N [--seed S]]\n"all" is: ${everything.join(' ')}`,
  );
  process.exit(2);
}
const paths = positionals[0] === 'all' ? everything : positionals;
const files = paths.flatMap((path) => {
  const found = statSync(join(root, path), { throwIfNoEntry: false });
  if (!found) {
    console.error(`${path}: no such folder or file`);
    process.exit(2);
  }
  return found.isDirectory() ? listPureFiles(path) : path;
});

// Nothing else needs these packages. If they are installed, this takes a second.
execFileSync('npm', ['install', '--no-save'], { cwd: import.meta.dirname, stdio: 'inherit' });
const { Stryker } = await import('@stryker-mutator/core');
const { Instrumenter } = await import('@stryker-mutator/instrumenter');

if (sampleSize > 0) {
  const { instrument } = Instrumenter.prototype;
  /** Lists all mutations, and then inserts only the sample: with all of them, the program would be several times slower. */
  Instrumenter.prototype.instrument = async function instrumentSample(files, options) {
    const { mutants } = await instrument.call(this, files, options);
    const byRank = new Map(mutants.map((mutant) => [rankMutant(mutant), mutant]));
    const sampled = new Map([...byRank].sort(([a], [b]) => (a < b ? -1 : 1)).slice(0, sampleSize));
    console.log(`Tries ${sampled.size} of ${mutants.length} mutations, with seed ${seed}.`);
    const sampledFiles = files.map((file) => {
      const ofFile = [...sampled.values()].filter(({ fileName }) => fileName === file.name);
      return { ...file, mutate: ofFile.map(({ location }) => location) };
    });
    const result = await instrument.call(this, sampledFiles, options);
    return { ...result, mutants: result.mutants.filter((mutant) => sampled.has(rankMutant(mutant))) };
  };
}

/** The explorer and its pages are left out: their tests use browsers and built files. */
function listPureFiles(folder) {
  return readdirSync(join(root, folder), { recursive: true })
    .map((file) => join(folder, file))
    .filter((file) => /^(?!http\/(?:explorer|server\/pages)\/).*(?<!\.d)\.ts$/.test(file))
    .filter((file) => !io.test(readFileSync(join(root, file), 'utf8')));
}

/** Ranks by a hash, so that a change of one file leaves the sample of all others. */
function rankMutant({ fileName, location, mutatorName, replacement }) {
  const identity = [seed, relative(root, fileName), location, mutatorName, replacement];
  return createHash('sha256').update(JSON.stringify(identity)).digest('hex');
}

process.chdir(root);
const report = paths.join('-').replaceAll('/', '.');
const incrementalFile = `data/mutation/${report}${sampleSize > 0 ? `.sample-${seed}` : ''}.json`;
forgetSurvivingConstants();
const configFile = join(import.meta.dirname, 'stryker.config.json');
await new Stryker({ configFile, mutate: files, incrementalFile }).runMutationTest();

/** Has them tried again: Stryker does not know which tests reach a constant, and would keep the result even after a new test. */
function forgetSurvivingConstants() {
  if (!existsSync(incrementalFile)) return;
  const result = JSON.parse(readFileSync(incrementalFile, 'utf8'));
  for (const file of Object.values(result.files))
    file.mutants = file.mutants.filter((mutant) => !(mutant.static && mutant.status === 'Survived'));
  writeFileSync(incrementalFile, JSON.stringify(result));
}
