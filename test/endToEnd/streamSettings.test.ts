import { RetentionPolicy } from '@nats-io/jetstream';
import { expect, it } from 'vitest';
import { streamSubjects } from '../../actors/messages/subjects.ts';
import {
  fetchReadiness,
  startMiner,
  waitUntilFolded,
  waitUntilReady,
} from '../support/processes/minerProcess.ts';
import { connectTo, startNats } from '../support/processes/natsServer.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { mixedPublications, publishAll } from '../support/readings/readingMessages.ts';

const metricOf = (stream: string, setting: string) =>
  `miner_stream_setting_risks{stream="${stream}",setting="${setting}"}`;

it('settings that lose messages are named everywhere while a process serves', async () => {
  const nats = await startNats();
  const { connection, jsm } = await connectTo(nats);
  await jsm.streams.add({
    name: 'MINER_PIPELINE',
    subjects: streamSubjects.MINER_PIPELINE,
    retention: RetentionPolicy.Interest,
  });
  const dataDir = temporaryDirectory();
  const miner = await startMiner({ natsUrl: nats.url, dataDir });
  await waitUntilReady(miner);
  const named = () =>
    miner
      .log()
      .flatMap(({ level, stream, setting }) => (setting === undefined ? [] : [[level, stream, setting]]));
  expect(named()).toContainEqual(['warn', 'MINER_PIPELINE', 'retention']);
  expect(await miner.metric(metricOf('MINER_PIPELINE', 'retention'))).toBe(1);
  expect((await fetchReadiness(miner)).streamRisks).toContainEqual({
    ...{ stream: 'MINER_PIPELINE', setting: 'retention', value: 'interest' },
    detail: expect.stringContaining('is lost'),
  });

  const perSubject = metricOf('MINER_COUNTER', 'max_msgs_per_subject');
  expect(await miner.metric(perSubject)).toBeNull();
  await jsm.streams.update('MINER_COUNTER', { max_msgs_per_subject: 1 });
  expect(await miner.metric(perSubject)).toBe(1);
  expect(named()).toContainEqual(['warn', 'MINER_COUNTER', 'max_msgs_per_subject']);

  await jsm.streams.update('MINER_COUNTER', { max_msgs_per_subject: -1 });
  expect(await miner.metric(perSubject)).toBeNull();
  expect(named()).toContainEqual(['info', 'MINER_COUNTER', 'max_msgs_per_subject']);
  await publishAll(connection, mixedPublications(50));
  await waitUntilFolded(miner, 50);
  await waitUntilReady(miner);
});
