// Its own process, so that the attack does not delay the measurement of latencies: `node dist/tools/attacker.js NAME TARGET SECONDS`.
import { attacks, type Target } from './attacks.ts';

const [name = '', target = '{}', seconds = '0'] = process.argv.slice(2);
const attack = attacks.find((one) => one.name === name);
if (attack === undefined) throw new Error(`there is no attack ${name}`);
// The benchmark has written the target.
await attack.run(JSON.parse(target) as Target, Number(seconds));
process.exit();
