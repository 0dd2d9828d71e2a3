import { eventually } from './childProcess.ts';
import { genesisMs } from './minerProcess.ts';
import type { TestConnection } from './natsServer.ts';
import { publicationOf, readingMessage } from './readingMessages.ts';

/** Readings that are published before the server is waited for. */
const flushedEvery = 5_000;

/** Publishes readings `from` to `to` (not included) of an installation in order, as fast as the server stores them. */
export async function publishMany(
  nats: TestConnection,
  installationId: string,
  from: number,
  to: number,
  { startMs, intervalMs }: { readonly startMs: number; readonly intervalMs: number } = {
    startMs: genesisMs,
    intervalMs: 10_000,
  },
) {
  const { connection, jsm } = nats;
  const before = (await jsm.streams.info('MINER_COUNTER')).state.last_seq;
  for (let index = from; index < to; index++) {
    const observedMs = startMs + index * intervalMs;
    const observedAt = new Date(observedMs).toISOString();
    const receivedAt = new Date(observedMs + 50).toISOString();
    const { subject, body } = publicationOf(
      readingMessage(installationId, index, { observedAt, receivedAt }),
    );
    connection.publish(subject, body);
    if (index % flushedEvery === 0) await connection.flush();
  }
  await connection.flush();
  const expected = before + to - from;
  await eventually(
    async () => (await jsm.streams.info('MINER_COUNTER')).state.last_seq === expected,
    `${to - from} stored readings`,
    120_000,
  );
}
