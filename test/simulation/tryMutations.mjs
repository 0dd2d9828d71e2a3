// `npm run simulate -- --mutations`: puts each fault into the program, runs seeds until one finds it, and writes the table of the README.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildSimulator } from './build.mjs';
import { mutations } from './mutations.mjs';

const page = join(import.meta.dirname, 'README.md');
const [begin, end] = ['<!-- mutations -->', '<!-- end of mutations -->'];
/** So many seeds at most, from the first on. */
const seedsMax = 10;

export async function tryMutations() {
  const unchanged = findSeed(await buildSimulator({ name: 'unchanged' }));
  if (unchanged.seeds !== null)
    throw new Error(`the program fails without a fault, ${unchanged.check}: correct that first`);
  const rows = [];
  for (const [index, mutation] of mutations.entries()) {
    const program = await buildSimulator({ mutation, name: `mutation-${index}` });
    const found = findSeed(program);
    rows.push(
      `| ${mutation.what} | \`${mutation.file}\` | ${found.seeds ?? `none of ${seedsMax}`} | ${found.check} |`,
    );
    console.log(rows.at(-1));
  }
  const table = ['| fault | file | found by seed number | check |', '|---|---|---|---|', ...rows].join('\n');
  const [before, after] = [
    readFileSync(page, 'utf8').split(begin)[0],
    readFileSync(page, 'utf8').split(end)[1],
  ];
  writeFileSync(page, `${before}${begin}\n${table}\n${end}${after}`);
}

function findSeed(program) {
  const settings = ['--seed', '1', '--seeds', String(seedsMax), '--minutes', '60', '--no-shrinking'];
  try {
    execFileSync(process.execPath, [program, ...settings], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return { seeds: null, check: 'not found' };
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
