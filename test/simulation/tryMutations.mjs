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
const seedsMax = 6;
/** So many programs run at the same time. */
const programsMax = 2;

/** @throws Error where the program fails without a fault that was put into it, so that nothing would be shown. */
export async function tryMutations() {
  const unchanged = await findSeed(await buildSimulator({ name: 'unchanged' }));
  if (unchanged.seeds !== null)
    throw new Error(`without a fault, seed ${unchanged.seeds} fails: ${unchanged.check}`);
  const results = mutations.map(() => null);
  const waiting = [...mutations.keys()];
  const work = async () => {
    for (let index = waiting.shift(); index !== undefined; index = waiting.shift()) {
      const mutation = mutations[index];
      results[index] = await findSeed(await buildSimulator({ mutation, name: `mutation-${index}` }));
      console.log(formatRow(mutation, results[index]));
      writeTable(results);
    }
  };
  await Promise.all(Array.from({ length: programsMax }, work));
}

function writeTable(results) {
  const rows = mutations.map((mutation, index) => formatRow(mutation, results[index]));
  const table = ['| fault | file | found by seed number | check |', '|---|---|---|---|', ...rows].join('\n');
  const text = readFileSync(page, 'utf8');
  writeFileSync(page, `${text.split(begin)[0]}${begin}\n${table}\n${end}${text.split(end)[1]}`);
}

function formatRow({ what, file }, result) {
  if (result === null) return `| ${what} | \`${file}\` | not tried | |`;
  return `| ${what} | \`${file}\` | ${result.seeds ?? `none of ${seedsMax}`} | ${result.check ?? ''} |`;
}

async function findSeed(program) {
  const settings = ['--seed', '1', '--seeds', String(seedsMax), '--minutes', '60', '--no-shrinking'];
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
