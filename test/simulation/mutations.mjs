// Reads `mutations.txt`: faults to put into the program one at a time, to see whether the simulator finds them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as plans from './mutationPlans.mjs';

const text = readFileSync(join(import.meta.dirname, 'mutations.txt'), 'utf8');

/** In the order of the table in the README. */
export const mutations = text
  .split(/^# /m)
  .slice(1)
  .map((entry) => {
    const [what, ...lines] = entry.trimEnd().split('\n');
    const seed = lines.find((line) => line.startsWith('plan '))?.slice(5);
    const plan = Object.values(plans).find((one) => one.seed === seed);
    if (seed !== undefined && plan === undefined) throw new Error(`${what}: there is no plan ${seed}`);
    return { what, plan, replacements: readReplacements(lines) };
  });

/** A line `file` begins a replacement: lines behind `-` become those behind `+`. */
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
