// Runs a build over recorded streams and writes what it answers, stores and publishes.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createClient } from './client.mjs';
import { startNats, startProgram, waitForLog, waitUntilStored } from './processes.mjs';
import { createBlockingMessages, createFaultMessages } from './publications.mjs';
import { allowedOrigin, askEverything } from './requests.mjs';

const dayMs = 86_400_000;

/**
 * Steps recorded one after another over the same data, each by its own process: folded from the streams alone;
 * restored from the first step's snapshots; with messages published while it runs; and a day later, when readings and the
 * chain are old. Until then the chain is never stale: streams may be much older than the present of their simulation.
 */
const steps = [
  { name: 'first' },
  { name: 'restarted' },
  { name: 'blocked', publications: createBlockingMessages },
  { name: 'faulted', publications: createFaultMessages },
  { name: 'stale', laterMs: dayMs, staleSeconds: '120' },
];

export const stepNames = steps.map(({ name }) => name);

/**
 * Writes a folder for each step up to the named one: a file for each response, and in `stored/` the rows of all
 * tables and the rejections after it.
 */
export async function recordBodies({ program, streams, out, through }) {
  const folder = resolve(out);
  if (existsSync(folder)) throw new Error(`${folder} exists; a record is written into a new folder`);
  const recording = JSON.parse(readFileSync(join(streams, 'recording.json'), 'utf8'));
  const work = mkdtempSync(join(tmpdir(), 'miner-bodies-'));
  cpSync(join(streams, 'jetstream'), join(work, 'nats'), { recursive: true });
  const nats = await startNats(join(work, 'nats'));
  try {
    const service = {
      program: resolve(program),
      deployment: resolve(streams, 'deployment.json'),
      dataDir: join(work, 'data'),
      nats,
    };
    let hasPublished = false;
    for (const step of steps.slice(0, stepNames.indexOf(through) + 1)) {
      await recordStep(service, step, Date.parse(recording.clock), join(folder, step.name));
      hasPublished ||= step.publications !== undefined;
      // Snapshots hold arrival times, which nats-server stamped on messages of this record.
      const leftOut = hasPublished ? ['fold_snapshots'] : [];
      await writeStored(service, join(folder, step.name, 'stored'), leftOut);
    }
  } finally {
    await nats.stop();
    rmSync(work, { recursive: true, force: true });
  }
}

/** Starts the service, asks it everything, and stops it as an operator would. */
async function recordStep({ program, deployment, dataDir, nats }, step, presentMs, folder) {
  const { publications = () => [], laterMs = 0, staleSeconds = '999999' } = step;
  const started = startProgram({
    program,
    args: ['run'],
    clock: new Date(presentMs + laterMs).toISOString(),
    environment: {
      MINER_NATS_URL: nats.url,
      MINER_DATA_DIR: dataDir,
      MINER_DEPLOYMENT: deployment,
      MINER_CHAIN_STALE_SECONDS: staleSeconds,
      MINER_CHAIN_BEHIND_SECONDS: '999999999',
      MINER_ALLOWED_ORIGINS: allowedOrigin,
    },
  });
  try {
    const { publicUrl, operatorUrl } = await waitForLog(started, 'listening');
    await waitUntilStored(started, operatorUrl, nats.jsm);
    for (const { subject, body } of publications(presentMs)) await nats.js.publish(subject, body);
    await waitUntilStored(started, operatorUrl, nats.jsm);
    const client = createClient(publicUrl, folder);
    await askEverything(client.ask, client.askStream);
    client.close();
    const status = await started.stop();
    if (status !== 0) throw new Error(`the service ended with status ${status}: ${started.output()}`);
    console.log(`${folder}: ${client.count} answers`);
  } finally {
    await started.kill();
  }
}

/** The rows of ClickHouse and the rejections, while no service runs. */
async function writeStored({ dataDir, nats }, folder, leftOut) {
  const readTables = join(import.meta.dirname, 'readTables.mjs');
  // A copy, so that reading cannot change what the next start finds.
  const copy = `${dataDir}-copy`;
  cpSync(join(dataDir, 'clickhouse', 'engine'), copy, { recursive: true });
  execFileSync(process.execPath, [readTables, copy, folder, ...leftOut], { stdio: 'inherit' });
  rmSync(copy, { recursive: true });
  writeFileSync(join(folder, 'MINER_REJECTED.jsonl'), (await readRejections(nats.jsm)).join(''));
}

/** Rejected messages as lines, sorted by stream and sequence, because their order and their chain headers are random. */
async function readRejections(jsm) {
  const { state } = await jsm.streams.info('MINER_REJECTED');
  const found = [];
  for (let seq = Math.max(1, state.first_seq); seq <= state.last_seq; seq++) {
    const message = await jsm.streams.getMessage('MINER_REJECTED', { seq });
    found.push({ subject: message.subject, body: message.string() });
  }
  const key = ({ subject, body }) => `${subject} ${String(JSON.parse(body).sequence).padStart(12, '0')}`;
  return found.sort((a, b) => (key(a) < key(b) ? -1 : 1)).map((message) => `${JSON.stringify(message)}\n`);
}
