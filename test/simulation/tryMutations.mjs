// `npm run simulate -- --mutations`: puts each fault into the program, runs seeds until one finds it, and writes the table of the README.
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { buildSimulator, nodeOptions } from './build.mjs';
import * as plans from './mutationPlans.mjs';
import { mutations } from './mutations.mjs';

const runFile = promisify(execFile);
const page = join(import.meta.dirname, 'README.md');
const [begin, end] = ['<!-- mutations -->', '<!-- end of mutations -->'];
/** So many seeds at most, from the first on. */
const seedsMax = 16;
const episodes = 3;
/** So many programs run at the same time. */
const programsMax = 2;

/** @throws Error where the program fails without a fault that was put into it, so that nothing would be shown. */
export async function tryMutations({ untriedOnly }) {
  const unchanged = await findSeed(await buildSimulator({ name: 'unchanged' }), {
    plans: Object.values(plans),
  });
  if (unchanged.check !== null)
    throw new Error(`without a fault, ${unchanged.found ?? 'it'} fails: ${unchanged.check}`);
  const rows = mutations.map((mutation) => (untriedOnly && findRow(mutation)) || formatRow(mutation, null));
  const waiting = rows.flatMap((row, index) => (isFound(row) ? [] : [index]));
  const work = async () => {
    for (let index = waiting.shift(); index !== undefined; index = waiting.shift()) {
      const mutation = mutations[index];
      const { plan } = mutation;
      const program = await buildSimulator({ mutation, name: `mutation-${index}` });
      const result = await findSeed(program, { plans: plan === undefined ? [] : [plan] });
      rows[index] = formatRow(mutation, result);
      console.log(rows[index]);
      writeTable(rows);
    }
  };
  await Promise.all(Array.from({ length: programsMax }, work));
}

/** The row of the table that there is; undefined where there is none. */
function findRow({ what }) {
  return readFileSync(page, 'utf8')
    .split('\n')
    .find((line) => line.startsWith(`| ${what} |`));
}

/** Whether what is drawn now has found the fault of a row. */
const isFound = (row) => /\| (?:(?:dense seed )?\d+|a kept plan|plan `\w+`) \|/.test(row);

function writeTable(rows) {
  const table = ['| fault | file | found by seed number, or | check |', '|---|---|---|---|', ...rows].join(
    '\n',
  );
  const text = readFileSync(page, 'utf8');
  writeFileSync(page, `${text.split(begin)[0]}${begin}\n${table}\n${end}${text.split(end)[1]}`);
}

function formatRow({ what, replacements, reason = '' }, result) {
  const files = replacements.map(({ file }) => `\`${file}\``).join(', ');
  if (result === null) return `| ${what} | ${files} | not tried |  |`;
  return `| ${what} | ${files} | ${result.found ?? `none of ${seedsMax}`} | ${result.check ?? reason} |`;
}

/** Its own plan comes first, then those that are kept, then seeds. */
async function findSeed(program, { plans }) {
  for (const plan of plans) {
    const path = join(dirname(program), `plan-${plan.seed}.json`);
    writeFileSync(path, JSON.stringify(plan));
    const { check } = await run('--plan', path);
    if (check !== null) return { found: `plan \`${plan.seed}\``, check };
  }
  const kept = await run('--kept', '--minutes', '60');
  if (kept.check !== null) return { found: 'a kept plan', check: kept.check };
  const { seeds, check } = await run(
    '--seeds',
    String(seedsMax),
    '--episodes',
    String(episodes),
    '--minutes',
    '60',
  );
  return { found: check === null ? null : seeds, check };

  async function run(...settings) {
    const failure = await findFailure(program, [...settings, '--seed', '1', '--no-shrinking']);
    if (failure === null) return { seeds: null, check: null };
    const lines = String(failure.stdout).split('\n');
    const failed = lines.map((line) => /^seed [\w ]+: \w+: ([\w ]+):/.exec(line)?.[1]);
    const check = failed.find((one) => one !== undefined);
    // It has found nothing: it could not be run to its end.
    if (check === undefined) throw new Error(`${program} ended: ${failure.message}`);
    return {
      seeds: lines.filter((line) => /^seed [\w ]+:/.test(line)).length,
      check,
    };
  }
}

/** How it ends where it finds something, with what it has printed; null where it finds nothing. */
async function findFailure(program, settings) {
  try {
    await runFile(process.execPath, [...nodeOptions, program, ...settings], { maxBuffer: 2 ** 28 });
    return null;
  } catch (error) {
    return error;
  }
}
