// Reads `mutations.txt`: faults to put into the program, with the check of the simulator that finds each.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const entries = readFileSync(join(import.meta.dirname, 'mutations.txt'), 'utf8').split(/^(?=# )/m);

/** @type {readonly import('./buildSimulator.mjs').Mutation[]} */
export const mutations = entries.map((entry) => {
  const [title, ...lines] = entry.trimEnd().split('\n');
  const find = (word) => lines.find((line) => line.startsWith(`${word} `))?.slice(word.length + 1);
  return {
    what: title.slice(2),
    check: find('check'),
    plan: find('plan'),
    replacements: readReplacements(lines),
  };
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
