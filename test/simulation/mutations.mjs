// Reads `mutations.txt`: faults to put into the program one at a time, to see whether the simulator finds them.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mutationPlans } from './mutationPlans.mjs';

const path = join(import.meta.dirname, 'mutations.txt');
const readEntries = () => readFileSync(path, 'utf8').split(/^(?=# )/m);

/** @type {readonly import('./build.mjs').Mutation[]} */
export const mutations = readEntries().map((entry) => {
  const [title, ...lines] = entry.trimEnd().split('\n');
  const find = (word) => lines.find((line) => line.startsWith(`${word} `))?.slice(word.length + 1);
  const what = title.slice(2);
  const seed = find('plan');
  const plan = mutationPlans.find((one) => one.seed === seed);
  if (seed !== undefined && plan === undefined) throw new Error(`${what}: there is no plan ${seed}`);
  return { what, found: find('found'), plan, replacements: readReplacements(lines) };
});

/** A line `file` begins a replacement: the lines after `-` become the lines after `+`. */
function readReplacements(lines) {
  const join = (part, sign) =>
    part
      .filter((line) => line.startsWith(sign))
      .map((line) => line.slice(2))
      .join('\n');
  const starts = lines.flatMap((line, at) => (line.startsWith('file ') ? [at] : []));
  return starts.map((start, index) => {
    const part = lines.slice(start, starts[index + 1]);
    return { file: part[0].slice(5), from: join(part, '-'), to: join(part, '+') };
  });
}

/** Writes which seed or plan found a fault, and by which check. */
export function writeFound(what, found) {
  const [title, line] = [`# ${what}\n`, `found ${found}\n`];
  const entries = readEntries().map((entry) =>
    entry.startsWith(title) ? title + line + entry.slice(title.length).replace(/^found .*\n/m, '') : entry,
  );
  writeFileSync(path, entries.join(''));
}
