import { spawn } from 'node:child_process';
import { connect } from '@nats-io/transport-node';
import { bindToParent } from '../deploy/local/bindToParent.ts';
import { findFreePort } from '../test/support/processes/findFreePort.mjs';
import { writeNatsConfiguration } from '../test/support/processes/serverConfigurations.ts';
import { awaitFirstAnswer, createStopper, serverPath } from './serverChild.ts';

/** A nats-server with JetStream of a benchmark. */
interface NatsProcess {
  readonly url: string;
  stop(): Promise<void>;
}

/** @throws Error when it does not answer in time. */
export async function startNatsProcess(dir: string): Promise<NatsProcess> {
  const port = await findFreePort();
  const url = `nats://127.0.0.1:${port}`;
  const configuration = writeNatsConfiguration(dir, port);
  const child = spawn(...bindToParent('nats-server', ['-c', configuration]), {
    stdio: 'ignore',
    env: { PATH: serverPath },
  });
  const stop = createStopper(child);
  const connection = await awaitFirstAnswer(
    'nats-server',
    () => connect({ servers: url, reconnect: false }),
    stop,
  );
  await connection.close();
  return { url, stop };
}
