// `npm run simulate -- --mutations`: puts each fault into the program, runs seeds until one finds it, and writes the table of the README.
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildSimulator } from './build.mjs';
import { mutations } from './mutations.mjs';

const run = promisify(execFile);
const page = join(import.meta.dirname, 'README.md');
const [begin, end] = ['<!-- mutations -->', '<!-- end of mutations -->'];
/** So many seeds at most, from the first on. */
const seedsMax = 4;
const episodes = 3;
/** So many programs run at the same time. */
const programsMax = 2;

/** @throws Error where the program fails without a fault that was put into it, so that nothing would be shown. */
export async function tryMutations({ untriedOnly }) {
  const unchanged = await findSeed(await buildSimulator({ name: 'unchanged' }));
  if (unchanged.seeds !== null)
    throw new Error(`without a fault, seed ${unchanged.seeds} fails: ${unchanged.check}`);
  const rows = mutations.map(
    (mutation) => (untriedOnly && findFoundRow(mutation)) || formatRow(mutation, null),
  );
  const waiting = rows.flatMap((row, index) => (row.includes('not tried') ? [index] : []));
  const work = async () => {
    for (let index = waiting.shift(); index !== undefined; index = waiting.shift()) {
      const mutation = mutations[index];
      const result = await findSeed(await buildSimulator({ mutation, name: `mutation-${index}` }));
      rows[index] = formatRow(mutation, result);
      console.log(rows[index]);
      writeTable(rows);
    }
  };
  await Promise.all(Array.from({ length: programsMax }, work));
}

/** The row of the table that there is, where an earlier run has found the fault; undefined otherwise. */
function findFoundRow({ what }) {
  return readFileSync(page, 'utf8')
    .split('\n')
    .find((line) => line.startsWith(`| ${what} |`) && /\| \d+ \|/.test(line));
}

function writeTable(rows) {
  const table = ['| fault | file | found by seed number | check |', '|---|---|---|---|', ...rows].join('\n');
  const text = readFileSync(page, 'utf8');
  writeFileSync(page, `${text.split(begin)[0]}${begin}\n${table}\n${end}${text.split(end)[1]}`);
}

function formatRow({ what, file }, result) {
  if (result === null) return `| ${what} | \`${file}\` | not tried |  |`;
  return `| ${what} | \`${file}\` | ${result.seeds ?? `none of ${seedsMax}`} | ${result.check ?? ''} |`;
}

async function findSeed(program) {
  const settings = [
    '--seed',
    '1',
    '--seeds',
    String(seedsMax),
    '--episodes',
    String(episodes),
    '--minutes',
    '60',
    '--no-shrinking',
  ];
  try {
    await run(process.execPath, [program, ...settings], { maxBuffer: 2 ** 28 });
    return { seeds: null, check: null };
  } catch (error) {
    const lines = String(error.stdout).split('\n');
    const check = lines
      .map((line) => /^seed \d+: \w+: ([\w ]+):/.exec(line)?.[1])
      .find((one) => one !== undefined);
    return {
      seeds: lines.filter((line) => /^seed \d+:/.test(line)).length,
      check: check ?? 'the program ended',
    };
  }
}
