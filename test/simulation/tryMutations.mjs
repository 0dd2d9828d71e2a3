// `npm run simulate -- --mutations`: puts faults into the program, one at a time, and fails unless the check that `mutations.txt` names finds each.
import { spawnSync } from 'node:child_process';
import { buildSimulator, nodeOptions } from './buildSimulator.mjs';
import { mutations } from './mutations.mjs';

/** @returns whether each fault was found. */
export async function tryMutations() {
  let isComplete = true;
  for (const [index, mutation] of mutations.entries()) {
    const program = await buildSimulator({ mutation, name: `mutation-${index}` });
    const { plan } = mutation;
    const settings = { shrinking: false, ...(plan === undefined ? { kept: true, minutes: '60' } : { plan }) };
    const run = [...nodeOptions, program, JSON.stringify(settings)];
    const { stdout, stderr } = spawnSync(process.execPath, run, { encoding: 'utf8', maxBuffer: 2 ** 28 });
    const found = /^seed [\w ]+: \w+: ([\w ]+):/m.exec(stdout)?.[1] ?? `nothing\n${stdout}${stderr}`;
    const isFound = found === mutation.check;
    console.log(`${mutation.what}: found by ${found}${isFound ? '' : `, not by ${mutation.check}`}`);
    isComplete &&= isFound;
  }
  return isComplete;
}
