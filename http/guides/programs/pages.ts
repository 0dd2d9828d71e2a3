import { createClient, formatUnits } from 'mining-activity-client';

const client = createClient({ baseUrl: 'http://127.0.0.1:8080' });
const [, , address = ''] = process.argv;
let claimable = new Map<bigint, bigint>();
for await (const { body, isRestart } of client.pages('/v1/owners/{address}/miners', { address, limit: 2 })) {
  if (isRestart) claimable = new Map();
  if (body.status === 'unavailable') throw new Error(body.reason);
  for (const { tokenId, claimableBaseUnits } of body.positions) claimable.set(tokenId, claimableBaseUnits);
}
for (const [tokenId, amount] of claimable) console.log(`token ${tokenId}: ${formatUnits(amount, 18)} to claim`);
