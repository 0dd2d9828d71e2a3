import { describe, expect, it } from 'vitest';
import { createChainActors } from '../../actors/chain/chainActors.ts';
import { parse } from '../../actors/folds/bigintJson.ts';
import type { FoldIdentity } from '../../actors/folds/foldIdentity.ts';
import type { FoldRecord } from '../../actors/folds/foldRecord.ts';
import { aheadMsMax } from '../../actors/messages/futureTimes.ts';
import type { StreamMessage } from '../../actors/messages/streamMessage.ts';
import { type InputStreamName, inputStreamNames } from '../../actors/messages/subjects.ts';
import { createSettlementActors } from '../../actors/settlement/settlementActors.ts';
import { createCounterActors } from '../../actors/wheel/counterActors.ts';
import type { Database } from '../../storage/clickhouse/database.ts';
import { migrate } from '../../storage/migration/migrate.ts';
import { readReleasedStreams } from '../../storage/migration/releasedSnapshots.ts';
import { openEnd, readLineage } from '../../storage/runs/lineages.ts';
import { restoreState } from '../support/restoreState.ts';
import {
  deployment,
  openReleased,
  type ReleasedRow,
  readStates,
  recorded,
  rewriteReleased,
  snapshotTable,
  upgrade,
} from '../support/storage/releasedDatabase.ts';
import { collectLines } from '../support/streams/collectLines.ts';

const { genesisMs, settings, messages } = recorded;

interface Actors {
  readonly identity: FoldIdentity;
  receive(message: StreamMessage): unknown;
  capture(): Iterable<FoldRecord>;
  beginRestore(): { add(record: FoldRecord): void; complete(): () => void };
}

const createActors: Readonly<Record<InputStreamName, () => Actors>> = {
  MINER_COUNTER: () => createCounterActors({ genesisMs, publicInstallationId: deployment.installationId }),
  MINER_PIPELINE: () => createSettlementActors({ genesisMs }),
  MINER_CHAIN: () => createChainActors(settings),
};

/** The state after the messages of a stream through one of them. */
function fold(stream: InputStreamName, through: number): Actors {
  const actors = createActors[stream]();
  for (const message of messages[stream])
    if (message.seq <= through) actors.receive(toStreamMessage(message));
  return actors;
}

function toStreamMessage(message: (typeof messages)[InputStreamName][number]): StreamMessage {
  const { seq, subject, text, storedAtMs } = message;
  return { seq, subject, data: Buffer.from(text), timestampNanos: BigInt(storedAtMs) * 1_000_000n };
}

/** Values by kind and key, without what version 1.0 did not note: when installations were heard, and the places of the day. */
function listNoted(records: Iterable<FoldRecord>): ReadonlyMap<string, unknown> {
  const noted = [...records].filter(({ kind }) => kind !== 'places' && kind !== 'heard');
  return new Map(
    noted.map(({ kind, key, value }) => {
      const read = parse(value) as { heardAtMs?: number };
      if (kind === 'installation') delete read.heardAtMs;
      return [`${kind} ${key}`, read];
    }),
  );
}

async function readState(database: Database, stream: InputStreamName) {
  const [state = null, ...others] = await readStates(database, stream);
  expect(others).toEqual([]);
  return state;
}

const isNewestOf =
  (stream: InputStreamName) =>
  (row: ReleasedRow): boolean =>
    row.stream === stream &&
    row.ordinal ===
      Math.max(...recorded.rows.filter((one) => one.stream === stream).map(({ ordinal }) => ordinal));

describe('an upgrade from 1.0', () => {
  it('continues every stream from its newest state, as if this version had folded it', async () => {
    const database = await openReleased();
    const before = await database.select(`SELECT count(), sum(cityHash64(*)) FROM ${snapshotTable}`);
    await upgrade(database);
    for (const stream of inputStreamNames) {
      const last = messages[stream].at(-1)?.seq ?? 0;
      const state = await readState(database, stream);
      if (state === null) throw new Error(`${stream} has no state`);
      const folded = fold(stream, last);
      expect(state.header).toMatchObject({
        ...folded.identity,
        ...{ position: last, digest: `digest ${last}`, streamCreated: `${stream} created` },
      });
      expect(listNoted(state.records)).toEqual(listNoted(folded.capture()));
      const lineage = await readLineage(database, stream);
      expect(lineage?.runs).toEqual([{ run: state.header.run, through: openEnd }]);
      const restored = createActors[stream]();
      restoreState(restored, state.records);
      expect(listNoted(restored.capture())).toEqual(listNoted(folded.capture()));
    }
    // The tables of 1.0 stay, for a way back.
    expect(await database.select(`SELECT count(), sum(cityHash64(*)) FROM ${snapshotTable}`)).toEqual(before);
  });

  it('recognizes a repeated message of 1.0 with a null member', async () => {
    const database = await openReleased();
    await upgrade(database);
    const isIds = ({ kind, key }: FoldRecord) => kind === 'rememberedIds' && key.includes('/messages/');
    const ofReleased = (await readState(database, 'MINER_PIPELINE'))?.records.filter(isIds) ?? [];
    const retrying = messages.MINER_PIPELINE.find(({ text }) => text.includes('"transactionHash": null'));
    if (retrying === undefined) throw new Error('no such message was recorded');
    const folded = [...fold('MINER_PIPELINE', retrying.seq).capture()].filter((record) => !isIds(record));
    const actors = createActors.MINER_PIPELINE();
    restoreState(actors, [...folded, ...ofReleased]);
    expect(actors.receive(toStreamMessage(retrying))).toMatchObject({ rejection: { reason: 'not_allowed' } });
  });

  it.each([
    [
      'names a time in the future',
      'MINER_COUNTER',
      (rows: readonly ReleasedRow[]) =>
        rows.map((row) =>
          isNewestOf('MINER_COUNTER')(row) ? { ...row, takenAtMs: row.takenAtMs - aheadMsMax - 2_000 } : row,
        ),
      /names a time in the future \(/,
    ],
    [
      'holds half of a surrogate pair',
      'MINER_COUNTER',
      (rows: readonly ReleasedRow[]) =>
        rows.map((row) =>
          isNewestOf('MINER_COUNTER')(row)
            ? rewriteReleased(row, (text) =>
                text.replace('"softwareVersion":"test"', '"softwareVersion":"\\ud83d"'),
              )
            : row,
        ),
      /half of a surrogate pair/,
    ],
    [
      'has closed a round that had not ended',
      'MINER_PIPELINE',
      (rows: readonly ReleasedRow[]) => rows,
      /round \d+ ends in the future/,
    ],
    [
      'is damaged',
      'MINER_CHAIN',
      (rows: readonly ReleasedRow[]) =>
        rows.map((row) => (isNewestOf('MINER_CHAIN')(row) ? { ...row, checksum: '0' } : row)),
      /checksum/,
    ],
    [
      'is of another version',
      'MINER_CHAIN',
      (rows: readonly ReleasedRow[]) =>
        rows.map((row) => (row.stream === 'MINER_CHAIN' ? { ...row, foldVersion: 7 } : row)),
      /another version or deployment/,
    ],
  ] as const)('leaves out a state that %s, and takes the others over', async (_, stream, change, reason) => {
    const database = await openReleased(change(recorded.rows));
    const { lines, logger } = collectLines('info');
    const genesisTimestamp =
      stream === 'MINER_PIPELINE'
        ? deployment.genesisTimestamp + 3_600 * 24 * 365
        : deployment.genesisTimestamp;
    await migrate(database, logger, { ...deployment, genesisTimestamp });
    expect(await readState(database, stream)).toBeNull();
    const text = lines
      .map((line) => JSON.stringify(line))
      .find((line) => line.includes('not taken over') && line.includes(stream));
    expect(text).toMatch(reason);
    const others = inputStreamNames.filter(
      (one) => one !== stream && (one !== 'MINER_COUNTER' || stream !== 'MINER_PIPELINE'),
    );
    for (const other of others) expect(await readState(database, other)).not.toBeNull();
  });

  it('takes the state before a missing part over', async () => {
    const database = await openReleased(
      recorded.rows.filter((row) => row.stream !== 'MINER_COUNTER' || row.part !== 2),
    );
    await upgrade(database);
    const state = await readState(database, 'MINER_COUNTER');
    expect(state?.header.position).toBe(450);
    expect(listNoted(state?.records ?? [])).toEqual(listNoted(fold('MINER_COUNTER', 450).capture()));
  });
});

describe('the streams of a database of 1.0', () => {
  const row = (stream: ReleasedRow['stream'], streamCreated: string, ordinal: number): ReleasedRow => ({
    ...(recorded.rows[0] as ReleasedRow),
    ...{ snapshot: `${stream} ${streamCreated}`, stream, streamCreated, ordinal },
  });

  it('are those of its snapshots, the one that was saved last first', async () => {
    const database = await openReleased([
      row('MINER_CHAIN', 'b', 2),
      row('MINER_CHAIN', 'c', 1),
      row('MINER_CHAIN', 'a', 3),
      row('MINER_COUNTER', 'd', 1),
      row('MINER_COUNTER beside', 'e', 2),
    ]);
    expect(await readReleasedStreams(database)).toEqual(
      new Map([
        ['MINER_COUNTER', ['d']],
        ['MINER_CHAIN', ['a', 'b', 'c']],
      ]),
    );
  });

  it('include the stream of the active generation without a snapshot', async () => {
    const database = await openReleased([]);
    await database.command(
      "INSERT INTO generations VALUES (1, 7, '', 'old', 1), (1, 7, '', 'new', 2), (2, 7, '', 'other', 3)",
    );
    expect(await readReleasedStreams(database)).toEqual(new Map());
    await database.command("INSERT INTO readings_g1 (installation_id, position) VALUES ('wheel', 1)");
    expect(await readReleasedStreams(database)).toEqual(new Map([['MINER_COUNTER', ['new']]]));
  });
});
