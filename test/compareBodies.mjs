// Compares, byte for byte, what two builds of this program answer, store and publish over the same streams (README.md of this folder).
import { parseArgs } from 'node:util';
import { compareRecords } from './compareBodies/compareRecords.mjs';
import { recordBodies, stepNames } from './compareBodies/recordBodies.mjs';
import { recordStreams } from './compareBodies/recordStreams.mjs';

const usage = `usage:
  compareBodies.mjs streams --program <dist/deploy/miner.js> --out <folder> [--seed <text>] [--past-days <days>]
  compareBodies.mjs record --program <dist/deploy/miner.js> --streams <folder> --out <folder> [--through <step>]
  compareBodies.mjs compare <folder of a record> <folder of another>
steps: ${stepNames.join(', ')}`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    program: { type: 'string' },
    streams: { type: 'string' },
    out: { type: 'string' },
    seed: { type: 'string', default: 'bodies' },
    'past-days': { type: 'string', default: '8' },
    through: { type: 'string', default: stepNames.at(-1) },
  },
});
const [command, ...folders] = positionals;
const { program, streams, out, seed, 'past-days': pastDays, through } = values;

if (command === 'streams' && program && out) {
  await recordStreams({ program, out, seed, pastDays: Number(pastDays) });
} else if (command === 'record' && program && streams && out && stepNames.includes(through)) {
  await recordBodies({ program, streams, out, through });
} else if (command === 'compare' && folders.length === 2) {
  const { compared, different } = compareRecords(...folders, console.log);
  console.log(`${compared} compared, ${different} different`);
  // Two empty records would agree.
  process.exitCode = different === 0 && compared > 0 ? 0 : 1;
} else {
  console.error(usage);
  process.exitCode = 2;
}
