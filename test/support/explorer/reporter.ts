import { jetstream } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { onTestFinished } from 'vitest';
import { oracleSubject, reporterSubject } from '../../../actors/messages/subjects.ts';
import { closeNats } from '../../../streams/jetstream/connection.ts';
import { readNatsAccess } from '../../../streams/jetstream/natsAccess.ts';

/** Publishes messages as the local installation's oracle and reporter. */
export async function connectReporter(natsUrl: string) {
  const connection = await connect(readNatsAccess({ url: natsUrl }));
  onTestFinished(() => closeNats(connection));
  const js = jetstream(connection);
  return async (part: 'oracle' | 'reporter', message: object) => {
    const subject = part === 'oracle' ? oracleSubject('wheel.local') : reporterSubject('wheel.local');
    await js.publish(subject, JSON.stringify({ at: new Date().toISOString(), ...message }));
  };
}
