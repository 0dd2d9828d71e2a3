// `npm run simulate -- --mutations`: puts each fault into the program, and runs plans and seeds until one finds it.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { buildSimulator, nodeOptions } from './build.mjs';
import { mutationPlans } from './mutationPlans.mjs';
import { mutations, writeFound } from './mutations.mjs';

const runFile = promisify(execFile);
/** Seeds 1 to this one are tried. */
const seedsMax = 16;
const seeds = ['--seeds', String(seedsMax), '--episodes', '3', '--minutes', '60'];
const programsMax = 2;

/** @throws Error if the unchanged program fails: then nothing would be shown. */
export async function tryMutations({ untriedOnly }) {
  const unchanged = await findFault(await buildSimulator({ name: 'unchanged' }), mutationPlans);
  if (unchanged !== null) throw new Error(`the unchanged program fails: ${unchanged}`);
  const waiting = mutations.filter(({ found }) => !(untriedOnly && isFound(found)));
  const work = async () => {
    for (let mutation = waiting.shift(); mutation !== undefined; mutation = waiting.shift()) {
      const { what, plan } = mutation;
      const program = await buildSimulator({ mutation, name: `mutation-${mutations.indexOf(mutation)}` });
      const found = (await findFault(program, plan === undefined ? [] : [plan])) ?? `by none of ${seedsMax}`;
      console.log(`${what}: ${found}`);
      writeFound(what, found);
    }
  };
  await Promise.all(Array.from({ length: programsMax }, work));
}

/** Whether a fault was found by what is drawn now. */
const isFound = (found = '') => /^(?:seed \d+|a kept plan|plan \w+):/.test(found);

/** @returns what found the fault, and by which check: own plans first, then kept plans, then seeds; null if nothing did. */
async function findFault(program, ownPlans) {
  for (const plan of ownPlans) {
    const path = join(dirname(program), `plan-${plan.seed}.json`);
    writeFileSync(path, JSON.stringify(plan));
    const failure = await run('--plan', path);
    if (failure !== null) return `plan ${plan.seed}: ${failure.check}`;
  }
  const kept = await run('--kept', '--minutes', '60');
  if (kept !== null) return `a kept plan: ${kept.check}`;
  const failure = await run(...seeds);
  return failure === null ? null : `seed ${failure.seedsRun}: ${failure.check}`;

  async function run(...settings) {
    const output = await findOutput(program, [...settings, '--seed', '1', '--no-shrinking']);
    if (output === null) return null;
    const lines = output.split('\n').filter((line) => /^seed [\w ]+:/.test(line));
    const check = /^seed [\w ]+: \w+: ([\w ]+):/.exec(lines.at(-1) ?? '')?.[1];
    // It ended for another reason than a failed check.
    if (check === undefined) throw new Error(`${program} ended: ${output}`);
    return { seedsRun: lines.length, check };
  }
}

/** Output of a program that fails; null if it succeeds. */
async function findOutput(program, settings) {
  try {
    await runFile(process.execPath, [...nodeOptions, program, ...settings], { maxBuffer: 2 ** 28 });
    return null;
  } catch (error) {
    return `${error.stdout}${error.stderr}`;
  }
}
