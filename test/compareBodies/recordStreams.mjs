// Creates the streams that bodies are recorded over: what `local` simulates, further messages, and events of the chain that
// the simulated economy does not cause.
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import {
  createTestClient,
  defineChain,
  encodeFunctionData,
  http,
  parseAbi,
  publicActions,
  zeroHash,
} from 'viem';
import { sendTransaction } from 'viem/actions';
import { eventually, startNats, startProgram, waitForLog } from './processes.mjs';
import { createFollowingSpans, createSupplements, publicInstallation, spanSubject } from './publications.mjs';

const dayMs = 86_400_000;
const bucketMs = 1_800_000;
/** Readings of the past, so far apart that statistics still count what is between two of them. */
const pastIntervalSeconds = 60;
/** More than the confirmations that a block needs before it is shown. */
const confirmingBlocks = 14;

const economyAbi = parseAbi([
  'function pause()',
  'function unpause()',
  'function burn(uint256 tokenId)',
  'function mintReserve(address to, uint64 quantity)',
  'function advanceMetadataEpoch(string newCardBaseUrl)',
  'function publishMetadata(uint256 tokenId)',
  'function closeSale()',
  'function schedule(address target, uint256 value, bytes data, bytes32 predecessor, bytes32 salt, uint256 delay)',
]);

/**
 * Writes `jetstream/` (the folder of a nats-server), `deployment.json` and `recording.json` into `out`. The simulation is
 * derived from its seed and ends now. nats-server stamps messages with their time of arrival, so streams are recorded once and kept.
 */
export async function recordStreams({ program, out, seed, pastDays }) {
  const folder = resolve(out);
  mkdirSync(folder, { recursive: true });
  const dataDir = mkdtempSync(join(tmpdir(), 'miner-streams-'));
  const nats = await startNats(join(folder, 'jetstream'));
  try {
    const nowMs = Math.floor(Date.now() / 1000) * 1000;
    writeSimulation(dataDir, seed, nowMs, pastDays);
    const days = ['--past-days', String(pastDays), '--past-interval', String(pastIntervalSeconds)];
    const local = startProgram({
      program,
      args: ['local', ...days],
      environment: { MINER_DATA_DIR: dataDir, MINER_NATS_URL: nats.url },
    });
    try {
      await waitForLog(local, 'the simulated chain has reached the present; it continues in real time');
      for (const { subject, body } of createSupplements(nowMs)) await nats.js.publish(subject, body);
      await actOnChain(dataDir, /^ {2}chain +(\S+)$/m.exec(local.output())[1], nats.jsm);
    } finally {
      await local.stop();
    }
    const newest = await nats.jsm.streams.getMessage('MINER_CHAIN', { last_by_subj: spanSubject });
    for (const { subject, body } of createFollowingSpans(newest.json())) await nats.js.publish(subject, body);
    // Names the process that has ingested them, which has ended.
    await nats.jsm.streams.delete('MINER_LEASE');
    copyFileSync(join(dataDir, 'deployment.json'), join(folder, 'deployment.json'));
    // The wheel is online at this time, and every message is of the past.
    const recording = { clock: new Date(Math.ceil(Date.now() / 1000) * 1000 + 1_000).toISOString(), seed };
    writeFileSync(join(folder, 'recording.json'), `${JSON.stringify(recording, null, 2)}\n`);
  } finally {
    await nats.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** The file that `local` would otherwise create with random values. */
function writeSimulation(dataDir, seed, nowMs, pastDays) {
  const pastFromMs = nowMs - pastDays * dayMs;
  const simulation = {
    seed,
    pastFromMs,
    pastUntilMs: nowMs,
    installationId: publicInstallation,
    genesisTimestamp: (Math.floor(pastFromMs / bucketMs) * bucketMs) / 1000,
    streamId: `0x${createHash('sha256').update(seed).digest('hex')}`,
  };
  writeFileSync(join(dataDir, 'simulation.json'), JSON.stringify(simulation));
}

/** Events that the simulated economy has none of; waits until the last of them is indexed and confirmed. */
async function actOnChain(dataDir, url, jsm) {
  const { contracts } = JSON.parse(readFileSync(join(dataDir, 'deployment.json'), 'utf8'));
  const chain = defineChain({
    id: 31_337,
    name: 'Anvil',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [url] } },
  });
  const client = createTestClient({ mode: 'anvil', chain, transport: http(url), cacheTime: 0 }).extend(
    publicActions,
  );
  const accounts = await client.request({ method: 'eth_accounts' });
  const [operator, guardian, , , owner] = accounts;
  const { core, collection, operatorTimelock, proxyAdmin } = contracts;
  const upgrade = [proxyAdmin, 0n, '0x', zeroHash, zeroHash, 3_600n];
  const acts = [
    [guardian, core, 'pause', []],
    [guardian, core, 'unpause', []],
    [operator, collection, 'pause', []],
    [operator, collection, 'unpause', []],
    [operator, collection, 'mintReserve', [owner, 3n]],
    [operator, collection, 'advanceMetadataEpoch', ['https://cards.example/']],
    ...[1n, 2n, 3n].map((tokenId) => [operator, collection, 'publishMetadata', [tokenId]]),
    [operator, operatorTimelock, 'schedule', upgrade],
    [operator, collection, 'closeSale', []],
  ];
  for (const [account, to, functionName, args] of acts) {
    const data = encodeFunctionData({ abi: economyAbi, functionName, args });
    await sendTransaction(client, { chain: null, account, to, data, gas: 8_000_000n });
    await client.mine({ blocks: 1 });
  }
  await client.mine({ blocks: confirmingBlocks });
  const tip = await client.getBlockNumber();
  await eventually(async () => {
    const { state } = await jsm.streams.info('MINER_CHAIN');
    const last = await jsm.streams.getMessage('MINER_CHAIN', { last_by_subj: spanSubject });
    return state.messages > 0 && BigInt(last.json().toBlock) >= tip;
  }, `the chain indexed through block ${tip}`);
}
