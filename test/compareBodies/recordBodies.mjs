// Runs a build over recorded streams and writes what it answers, stores and publishes.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createClient } from './client.mjs';
import { everythingStored, logged, startNats, startProgram } from './processes.mjs';
import { laterPublications } from './publications.mjs';
import { allowedOrigin, askEverything } from './requests.mjs';

const dayMs = 86_400_000;
/** Streams are hours or months old by the standing clock of a record; a stale chain is recorded in its own step. */
const [neverStale, soonStale] = ['999999', '120'];

/**
 * Writes one folder for each step: `first` (folded from the streams alone), `restarted` (restored from what the first one
 * saved), `later-1`, `later-2` (further messages to the running service) and `stale` (restarted a day later, so that
 * readings and the chain are old); and what ClickHouse and `MINER_REJECTED` hold at the end of `first` and of all.
 */
export async function recordBodies({ program, streams, out }) {
  const folder = resolve(out);
  if (existsSync(folder)) throw new Error(`${folder} exists; a record is written into a new folder`);
  const { clock } = JSON.parse(readFileSync(join(streams, 'recording.json'), 'utf8'));
  const work = mkdtempSync(join(tmpdir(), 'miner-bodies-'));
  const dataDir = join(work, 'data');
  cpSync(join(streams, 'jetstream'), join(work, 'nats'), { recursive: true });
  const nats = await startNats(join(work, 'nats'));
  try {
    const service = { program: resolve(program), streams: resolve(streams), dataDir, nats };
    await withService({ ...service, clock, staleSeconds: neverStale }, async ({ askAll }) => {
      await askAll(join(folder, 'first'));
    });
    await writeStored(dataDir, nats, join(folder, 'stored-first'));
    await withService({ ...service, clock, staleSeconds: neverStale }, async ({ askAll, settled }) => {
      await askAll(join(folder, 'restarted'));
      for (const [index, publications] of laterPublications(Date.parse(clock)).entries()) {
        for (const { subject, body } of publications) await nats.js.publish(subject, body);
        await settled();
        await askAll(join(folder, `later-${index + 1}`));
      }
    });
    const nextDay = new Date(Date.parse(clock) + dayMs).toISOString();
    await withService({ ...service, clock: nextDay, staleSeconds: soonStale }, async ({ askAll }) => {
      await askAll(join(folder, 'stale'));
    });
    await writeStored(dataDir, nats, join(folder, 'stored-last'));
  } finally {
    await nats.stop();
    rmSync(work, { recursive: true, force: true });
  }
}

/** Starts the service, lets `use` ask it, and stops it as an operator would. */
async function withService({ program, streams, dataDir, nats, clock, staleSeconds }, use) {
  const started = startProgram({
    program,
    args: ['run'],
    clock,
    environment: {
      MINER_NATS_URL: nats.url,
      MINER_DATA_DIR: dataDir,
      MINER_DEPLOYMENT: join(streams, 'deployment.json'),
      MINER_CHAIN_STALE_SECONDS: staleSeconds,
      MINER_ALLOWED_ORIGINS: allowedOrigin,
    },
  });
  try {
    const { publicUrl, operatorUrl } = await logged(started, 'listening');
    const settled = () => everythingStored(started, operatorUrl, nats.jsm);
    const askAll = async (folder) => {
      const client = createClient(publicUrl, folder);
      await askEverything(client.ask, client.askStream);
      client.close();
      console.log(`${folder}: ${client.count} answers`);
    };
    await settled();
    await use({ askAll, settled });
    const status = await started.stop();
    if (status !== 0) throw new Error(`the service ended with status ${status}: ${started.output()}`);
  } finally {
    await started.kill();
  }
}

/** The rows of ClickHouse and the rejections, while no service runs. */
async function writeStored(dataDir, { jsm }, folder) {
  const readTables = join(import.meta.dirname, 'readTables.mjs');
  // A copy, so that reading cannot change what the next start finds.
  const copy = `${dataDir}-copy`;
  cpSync(join(dataDir, 'clickhouse', 'engine'), copy, { recursive: true });
  execFileSync(process.execPath, [readTables, copy, folder], { stdio: 'inherit' });
  rmSync(copy, { recursive: true });
  writeFileSync(join(folder, 'MINER_REJECTED.jsonl'), (await rejections(jsm)).join(''));
}

/** Rejected messages as lines, by stream and sequence: how the streams interleave goes by chance. */
async function rejections(jsm) {
  const { state } = await jsm.streams.info('MINER_REJECTED');
  const found = [];
  for (let seq = Math.max(1, state.first_seq); seq <= state.last_seq; seq++) {
    const message = await jsm.streams.getMessage('MINER_REJECTED', { seq });
    const headers = [...(message.header ?? [])].map(([name, values]) => [name, ...values]);
    found.push({ subject: message.subject, headers, body: message.string() });
  }
  const key = ({ subject, body }) => `${subject} ${String(JSON.parse(body).sequence).padStart(12, '0')}`;
  return found.sort((a, b) => (key(a) < key(b) ? -1 : 1)).map((message) => `${JSON.stringify(message)}\n`);
}
