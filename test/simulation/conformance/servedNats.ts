import { createServer } from 'node:net';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { closeNats, createJetStreamPort } from '../../../streams/nats/jetStreamPort.ts';
import { whenFinished } from '../../support/processes/lifetime.ts';
import type { TestConnection } from '../../support/processes/natsServer.ts';
import type { MinorVersion } from '../nats/jetStreamStore.ts';
import { createSimulatedNats } from '../nats/natsServer.ts';

/** A connection to the simulated nats-server, which listens on a real port and lives by the real clock. */
export async function connectToSimulated(minorVersion: MinorVersion): Promise<TestConnection> {
  const nats = createSimulatedNats({
    minorVersion,
    nowMs: () => performance.now(),
    wallMs: () => Date.now(),
    schedule: (delayMs, run) => {
      if (delayMs <= 1) setImmediate(run);
      else setTimeout(run, delayMs).unref();
    },
    latencyMs: () => 0,
  });
  const server = createServer((socket) => {
    const side = nats.accept({
      receive: (bytes) => socket.write(bytes),
      cut: () => socket.destroy(),
    });
    socket.on('data', (bytes) => side?.receive(bytes));
    socket.on('close', () => side?.closed());
    socket.on('error', () => undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  const connection = await connect({ servers: `nats://127.0.0.1:${port}` });
  whenFinished(async () => {
    await closeNats(connection);
    server.close();
  });
  return {
    connection,
    js: jetstream(connection),
    jsm: await jetstreamManager(connection),
    jetStream: await createJetStreamPort(connection),
  };
}
