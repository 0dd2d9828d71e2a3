import { expect, it } from 'vitest';
import { findLostStreams } from '../../streams/ingest/lostStreams.ts';
import { buildBlockHash, buildTransactionHash } from '../support/chain/hashes.ts';
import { eventually } from '../support/processes/childProcess.ts';
import { storeRows } from '../support/storage/storeRows.ts';
import { prepareToFollow } from '../support/streams/testFollower.ts';

it('rows of the chain without a snapshot are lost with a stream that was created after their messages were stored', async () => {
  const { nats, database, tables } = await prepareToFollow();
  const { jsm, js } = nats;
  await jsm.streams.add({ name: 'ORIGIN', subjects: ['origin'] });
  const { seq: storedBy } = await js.publish('origin');
  const message = await jsm.streams.getMessage('ORIGIN', { seq: storedBy });
  const storedAtMs = message?.time.getTime() as number;
  const checkpoint = {
    run: '1.0',
    blockNumber: 1n,
    blockHash: buildBlockHash(1),
    blockTimestampMs: storedAtMs,
    transactionHash: buildTransactionHash(2),
    transactionIndex: 0,
    logIndex: 0,
    position: storedBy,
    storedBy,
    storedAtMs,
    checkpointNumber: 0,
    afterRound: 0n,
    throughRound: 1n,
    completedBlockCount: 1n,
    cumulativeWork: 1n,
    cumulativeBlockUnits: 1n,
    eligibleWeight: 1n,
    amountBaseUnits: 1n,
    totalMintedBaseUnits: 1n,
  };
  await storeRows(database, tables, { checkpoints: [checkpoint] });
  const find = () => findLostStreams({ database, jsm });
  // The stream is older than the row. It may have lost its end, which is found when rows are corrected.
  expect(await find()).toEqual([]);

  const { config } = await jsm.streams.info('MINER_CHAIN');
  await jsm.streams.delete('MINER_CHAIN');
  const folded = new Date(storedAtMs).toISOString();
  expect(await find()).toEqual([{ stream: 'MINER_CHAIN', folded, found: null }]);
  await jsm.streams.add(config as Parameters<typeof jsm.streams.add>[0]);
  const { created: found } = await jsm.streams.info('MINER_CHAIN');
  expect(await find()).toEqual([{ stream: 'MINER_CHAIN', folded, found }]);

  // A mirror has the message, although it is younger.
  await jsm.streams.delete('MINER_CHAIN');
  await jsm.streams.add({ name: 'MINER_CHAIN', mirror: { name: 'ORIGIN' } });
  const hasMessage = async () => (await jsm.streams.info('MINER_CHAIN')).state.last_seq === storedBy;
  await eventually(hasMessage, 'a copy of the message');
  expect(await find()).toEqual([]);
});
