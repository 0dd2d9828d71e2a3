import type { ConsumerMessages } from '@nats-io/jetstream';
import { AckPolicy, DeliverPolicy } from '@nats-io/jetstream';
import { describe, expect, it } from 'vitest';
import { readErrorMessage } from '../../../actors/readErrorMessage.ts';
import { ensureStreams } from '../../../streams/jetstream/settings/ensureStreams.ts';
import { eventually } from '../../support/processes/childProcess.ts';
import { connectTo, startNats, type TestConnection } from '../../support/processes/natsServer.ts';
import { silentLogger } from '../../support/silentLogger.ts';
import { createRemovableStreams } from '../../support/streams/removableStreams.ts';
import { minorVersions } from '../nats/jetStreamStore.ts';
import { connectToSimulated } from './servedNats.ts';

const stream = 'MINER_COUNTER';
const subject = 'miner.counter.one';

/** The newest version of the simulated server that is not newer than the real one. */
const findMinorVersion = ({ connection }: TestConnection) =>
  minorVersions.findLast((minor) => minor <= Number(connection.info?.version.split('.')[1])) ??
  minorVersions[0];

/** Checks that a scenario gives the same result on a real and on the simulated server. */
function itAgrees(rule: string, observe: (connection: TestConnection) => Promise<unknown>) {
  it(rule, async () => {
    const real = await connectTo(await startNats());
    const simulated = await connectToSimulated(findMinorVersion(real));
    const found: unknown[] = [];
    for (const connection of [real, simulated]) {
      await createRemovableStreams(connection.jsm, [stream, 'MINER_LEASE']);
      await ensureStreams(connection.jetStream, {
        streams: [stream, 'MINER_LEASE'],
        retentionDays: 0,
        logger: silentLogger,
      });
      found.push(await observe(connection));
    }
    expect(found[1]).toEqual(found[0]);
  });
}

const settle = (promise: Promise<unknown>) =>
  promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ refused: readErrorMessage(error) }),
  );

async function publish({ js }: TestConnection, count: number) {
  for (let number = 0; number < count; number++) await js.publish(subject, `message ${number}`);
}

async function readState({ jsm }: TestConnection) {
  const { config, state } = await jsm.streams.info(stream, { deleted_details: true });
  const { first_seq: first, last_seq: last, messages } = state;
  // Newer servers report sequence 0 as lost in a stream that never held a message.
  const deleted = (state.deleted ?? []).filter((sequence) => sequence > 0);
  return { name: config.name, subjects: config.subjects, first, last, messages, deleted };
}

const follow = ({ js }: TestConnection, from: number) =>
  js.consumers.get(stream, { deliver_policy: DeliverPolicy.StartSequence, opt_start_seq: from });

/** Sequences of the next messages. */
async function take(messages: ConsumerMessages, count: number): Promise<number[]> {
  const sequences: number[] = [];
  for await (const { seq } of messages) {
    sequences.push(seq);
    if (sequences.length === count) break;
  }
  return sequences;
}

/** Kinds of notifications up to the first of the given kinds. */
async function notifications(messages: ConsumerMessages, until: readonly string[]): Promise<string[]> {
  const kinds = new Set<string>();
  // Nothing is delivered unless messages are read.
  void take(messages, 1);
  for await (const { type } of messages.status()) {
    kinds.add(type);
    if (until.includes(type)) break;
  }
  messages.stop();
  return [...kinds].sort();
}

describe('a nats-server, real and simulated', () => {
  itAgrees('stores messages by sequence, and each ID once', async (connection) => {
    const { js } = connection;
    const empty = await readState(connection);
    const first = await js.publish(subject, 'a', { msgID: 'one' });
    const again = await js.publish(subject, 'b', { msgID: 'one' });
    const other = await js.publish(subject, 'b', { msgID: 'two' });
    return { empty, first, again, other, after: await readState(connection) };
  });

  itAgrees('refuses what does not follow the message that is expected', async ({ js }) => {
    const one = await settle(js.publish('miner.lease.x', '1', { expect: { lastSubjectSequence: 0 } }));
    const wrong = await settle(js.publish('miner.lease.x', '2', { expect: { lastSubjectSequence: 0 } }));
    const right = await settle(js.publish('miner.lease.x', '3', { expect: { lastSubjectSequence: 1 } }));
    const whole = await settle(js.publish('miner.lease.y', '4', { expect: { lastSequence: 9 } }));
    const identified = await settle(js.publish('miner.lease.x', '5', { msgID: 'five' }));
    const after = await settle(js.publish('miner.lease.y', '6', { expect: { lastMsgID: 'five' } }));
    const later = await settle(js.publish('miner.lease.y', '7', { expect: { lastMsgID: 'five' } }));
    return { one, wrong, right, whole, identified, after, later };
  });

  itAgrees('keeps one message per subject where that is configured', async ({ js, jsm }) => {
    for (const name of ['a', 'b', 'a', 'a']) await js.publish(`miner.lease.${name}`, name);
    const { state } = await jsm.streams.info('MINER_LEASE', { deleted_details: true });
    return [state.first_seq, state.last_seq, state.messages, state.deleted];
  });

  itAgrees('gives a stored message by sequence or by subject', async (connection) => {
    await publish(connection, 3);
    const { jsm } = connection;
    const show = async (query: Parameters<typeof jsm.streams.getMessage>[1]) => {
      const found = await jsm.streams.getMessage(stream, query);
      return found === null ? null : [found.seq, found.subject, found.string()];
    };
    return [
      await show({ seq: 2 }),
      await show({ seq: 9 }),
      await show({ last_by_subj: subject }),
      await show({ last_by_subj: 'miner.counter.none' }),
    ];
  });

  itAgrees('names what is gone, at the front and in the middle', async (connection) => {
    const { jsm } = connection;
    await publish(connection, 8);
    await jsm.streams.deleteMessage(stream, 5);
    await jsm.streams.purge(stream, { seq: 3 });
    const partly = await readState(connection);
    const missing = await settle(jsm.streams.deleteMessage(stream, 5));
    await jsm.streams.purge(stream);
    const empty = await readState(connection);
    await publish(connection, 1);
    return { partly, missing, empty, after: await readState(connection) };
  });

  itAgrees('says that a stream is not there', async ({ jsm, js }) => {
    await jsm.streams.delete(stream);
    return [
      await settle(jsm.streams.info(stream)),
      await settle(jsm.streams.getMessage(stream, { seq: 1 })),
      await settle(js.consumers.get(stream, { opt_start_seq: 1 })),
      await settle(js.publish(subject, 'x', { timeout: 500 })),
    ];
  });

  itAgrees('delivers from a sequence on, in order, also what is published meanwhile', async (connection) => {
    await publish(connection, 5);
    const messages = await (await follow(connection, 3)).consume({ max_messages: 100, expires: 2_000 });
    const taken = take(messages, 6);
    await publish(connection, 3);
    return taken;
  });

  itAgrees('takes a sequence beyond the end for the next one, or waits for it', async (connection) => {
    await publish(connection, 2);
    const messages = await (await follow(connection, 4)).consume({ max_messages: 10, expires: 2_000 });
    const taken = take(messages, 2);
    await publish(connection, 3);
    return taken;
  });

  itAgrees('jumps over what is purged in front of a consumer, without a word', async (connection) => {
    await publish(connection, 10);
    const consumer = await follow(connection, 1);
    await connection.jsm.streams.purge(stream, { seq: 7 });
    return take(await consumer.consume({ max_messages: 10, expires: 2_000 }), 4);
  });

  itAgrees('beats while nothing comes, and ends a pull in its time', async (connection) => {
    const messages = await (await follow(connection, 1)).consume({ max_messages: 10, expires: 1_200 });
    return notifications(messages, ['debug']);
  });

  itAgrees(
    'ends a pull at a message that its bytes do not allow, and sends it with the next',
    async (connection) => {
      const { js, jsm } = connection;
      for (const bytes of [300, 300, 500]) await js.publish(subject, 'x'.repeat(bytes));
      await jsm.consumers.add(stream, { name: 'reader', ack_policy: AckPolicy.None });
      const received: unknown[] = [];
      const inbox = 'miner.inbox';
      connection.connection.subscribe(inbox, {
        callback: (_, { headers, data }) =>
          void received.push(
            headers === undefined ? data.length : [headers.code, headers.description, [...headers]],
          ),
      });
      const pull = () => {
        const request = JSON.stringify({ batch: 10, max_bytes: 1_000, expires: 60_000_000_000 });
        connection.connection.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.reader`, request, {
          reply: inbox,
        });
      };
      pull();
      await eventually(() => received.length === 3, 'two messages and the end of the pull', 10_000);
      pull();
      await eventually(() => received.length === 4, 'the last message', 10_000);
      return received;
    },
  );

  itAgrees('says that a consumer was deleted to whoever waits', async (connection) => {
    const consumer = await follow(connection, 1);
    const messages = await consumer.consume({ max_messages: 10, expires: 5_000 });
    const kinds = notifications(messages, ['consumer_deleted']);
    await connection.connection.flush();
    await consumer.delete();
    return kinds;
  });

  itAgrees(
    'lets whoever waits find out that the stream was deleted, with a word or without',
    async (connection) => {
      const messages = await (await follow(connection, 1)).consume({ max_messages: 10, expires: 1_200 });
      await connection.connection.flush();
      const kinds = notifications(messages, ['consumer_deleted', 'stream_not_found', 'consumer_not_found']);
      await connection.jsm.streams.delete(stream);
      return (await kinds).length > 0;
    },
  );

  itAgrees('gives the place of a time in a stream', async (connection) => {
    await publish(connection, 2);
    const between = new Date(Date.now() + 20);
    while (Date.now() <= between.getTime() + 20) await new Promise((resolve) => setImmediate(resolve));
    await publish(connection, 2);
    const consumer = await connection.js.consumers.get(stream, {
      deliver_policy: DeliverPolicy.StartTime,
      opt_start_time: between.toISOString(),
    });
    const { num_pending: pending } = await consumer.info();
    return [pending, await take(await consumer.consume({ max_messages: 5, expires: 2_000 }), 2)];
  });

  itAgrees('answers a request that nobody hears, and one that somebody does', async ({ connection }) => {
    const nobody = await settle(connection.request('miner.nobody', '', { timeout: 500 }));
    connection.subscribe('miner.somebody', { callback: (_, message) => void message.respond('yes') });
    return [nobody, (await connection.request('miner.somebody', '', { timeout: 500 })).string()];
  });
});
