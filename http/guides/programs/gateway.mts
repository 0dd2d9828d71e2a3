import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';

const installationId = 'my.wheel';
const subject = `miner.counter.${installationId.replaceAll('.', '~')}`;
const readCounter = () => BigInt(readFileSync('counter.txt', 'utf8')); // Replace it with your sensor.
function write(name: string, text: string) {
  writeFileSync(`${name}.new`, text);
  renameSync(`${name}.new`, name); // A program that is killed here leaves a whole file.
}
const url = new URL(process.env.NATS_URL ?? ''); // Such as nats://token@127.0.0.1:4222
const login = url.password ? { user: url.username, pass: url.password } : { token: url.username };
const tls = url.protocol === 'tls:' && { tls: { caFile: process.env.NATS_CA } };
const retries = { waitOnFirstConnect: true, maxReconnectAttempts: -1, ignoreAuthErrorAbort: true };
const link = connect({ servers: url.host, ...login, ...tls, ...retries }).then((connection) => jetstream(connection));
const wheel = { installationId, bootId: randomUUID(), provenance: 'hardware', softwareVersion: null };
mkdirSync('outbox', { recursive: true });
let state = existsSync('state.json') ? JSON.parse(readFileSync('state.json', 'utf8')) : { epoch: randomUUID() };
for (let sequence = 0, last = readCounter(), lastMs = 0; ; sequence++, await sleep(1_000)) {
  const [counter, at, nowMs] = [readCounter(), new Date().toISOString(), performance.now()];
  const day = new Date(Date.now() - 43_200_000).toISOString().slice(0, 10); // It begins at noon.
  if (state.day !== day) write('state.json', JSON.stringify((state = { ...state, day, dayStart: `${last}` })));
  const turnsMilli = Math.round((Number(counter - last) * 250_000) / (nowMs - lastMs)); // Four pulses a turn, a metre a turn.
  const reading = { ...wheel, telemetryId: randomUUID(), sequence, observedAt: at, receivedAt: new Date().toISOString() };
  const work = { counterEpoch: state.epoch, cumulativeWorkUnits: `${counter}`, coreStatus: counter > last ? 'ACTIVE' : 'IDLE' };
  const speed = { rpmMilli: turnsMilli * 60, speedMmPerSecond: turnsMilli };
  write(`outbox/${at}.json`, JSON.stringify({ ...reading, ...work, ...speed, distanceMm: Number(counter - BigInt(state.dayStart)) * 250 }));
  [last, lastMs] = [counter, nowMs];
  for (const name of readdirSync('outbox').sort().filter((name) => name.endsWith('.json'))) {
    const message = readFileSync(`outbox/${name}`, 'utf8');
    const js = await Promise.race([link, sleep(100, null)]);
    const options = { msgID: JSON.parse(message).telemetryId, timeout: 1_000 };
    const sent = await js?.publish(subject, message, options).catch(() => null);
    if (!sent) { console.log('kept for later'); break; } // No network, no NATS, or a wrong password.
    rmSync(`outbox/${name}`);
  }
}
