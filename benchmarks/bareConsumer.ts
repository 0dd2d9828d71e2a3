// The least that shows a reading over HTTP: `node dist/tools/bareConsumer.js NATS_URL PORT` decodes the stream's new messages, and answers each request
// with the last reading of the installation.
import { DeliverPolicy, jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { App } from '../http/server/engine/uws.ts';
import { readNatsAccess } from '../streams/nats/natsAccess.ts';
import { installationId } from './readingLoad.ts';

const [url = '', port] = process.argv.slice(2);
let last = '';
App()
  .get('/*', (response) => void response.cork(() => response.end(last)))
  .listen('127.0.0.1', Number(port), (socket) => {
    if (socket === false) throw new Error(`port ${port} is taken`);
  });

const connection = await connect(readNatsAccess({ url }));
const consumer = await jetstream(connection).consumers.get('MINER_COUNTER', {
  deliver_policy: DeliverPolicy.New,
});
for await (const message of await consumer.consume({ max_messages: 2_000 })) {
  const reading = message.json<{ readonly installationId: string }>();
  if (reading.installationId === installationId) last = JSON.stringify(reading);
}
