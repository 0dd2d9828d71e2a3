import { describe, expect, it } from 'vitest';
import { inputStreamNames } from '../../actors/messages/subjects.ts';
import type { Database } from '../../storage/database.ts';
import { readGenerationIdentity } from '../../storage/generationIdentity.ts';
import { listGenerations } from '../../storage/generations.ts';
import { applyRowsTtl, readRowsTtlDays, rowsTtlDaysMax } from '../../storage/rowsTtl.ts';
import { createSnapshotStore } from '../../storage/snapshots.ts';
import type { Tables } from '../../storage/tables.ts';
import { genesisMs } from '../support/genesis.ts';
import { eventually } from '../support/processes/childProcess.ts';
import { foldAndStop } from '../support/processes/foldAndStop.ts';
import { minerCommand, startMinerCommand } from '../support/processes/minerCommand.ts';
import { startMiner, waitUntilReady } from '../support/processes/minerProcess.ts';
import type { TestConnection } from '../support/processes/natsServer.ts';
import { mixedPublications, publishAll, publishMany } from '../support/readings/readingMessages.ts';
import { storedState } from '../support/storage/storedState.ts';

/** Three installations, one reading per minute each: the second universal day begins with the 4,321st. */
const untilSecondDay = mixedPublications(4_500, 0, 60_000);

/** Runs a service until published readings are stored, stops it, and returns ways to run commands on its data. */
async function foldPublished(publish: (connection: TestConnection) => Promise<void>) {
  const { connection, settings, last, location, onDatabase, environment } = await foldAndStop(publish);
  return {
    nats: connection,
    last,
    environment,
    restart: () => startMiner({ ...settings, environment: { MINER_AUDIT_SECONDS: '1' } }),
    replay: (...args: string[]) => minerCommand(['replay', ...args], environment),
    state: () => storedState(location),
    database: onDatabase,
  };
}

/** Stored rows of one installation on the second universal day. */
const ofSecondDay = `installation_id = 'wheel.one' AND start >= fromUnixTimestamp64Milli(${genesisMs + 86_400_000}, 'UTC')`;

/** Removes rounds, as a fault of an older version might have. */
const damage = (database: Database, { rounds }: Tables, condition: string) =>
  database.command(`ALTER TABLE ${rounds} DELETE WHERE ${condition} SETTINGS mutations_sync = 1`);

/** The records of the newest saved state of each stream, sorted. */
async function newestState(database: Database, tables: Tables): Promise<string[]> {
  const store = createSnapshotStore({ database, tables: () => tables });
  const states = inputStreamNames.map(async (stream) => {
    const [header] = await store.list(stream);
    if (header === undefined) return [];
    const records: string[] = [];
    for await (const lines of store.read(header)) records.push(...lines);
    return [`${stream} ${header.position}`, ...records.sort()];
  });
  return (await Promise.all(states)).flat().sort();
}

describe('replay', () => {
  it('reports what it would change, changes it for one installation or for all, and then finds nothing to change', async () => {
    const { replay, state, database, restart, last } = await foldPublished(({ connection }) =>
      publishAll(connection, untilSecondDay),
    );
    const [before, stateBefore] = [await state(), await database(newestState)];
    const identity = await database(readGenerationIdentity);
    await database((one, tables) => damage(one, tables, ofSecondDay));
    await database((one, tables) => damage(one, tables, "installation_id = 'wheel:two'"));
    const damaged = await state();
    const forDays = { days: rowsTtlDaysMax, nowMs: Date.now() };
    await database((one, tables) => applyRowsTtl(one, tables, forDays));
    expect(damaged.rounds.length).toBeLessThan(before.rounds.length);

    const ofOne = ['--installation', 'wheel.one'];
    const dry = await replay('--from-sequence', '1', '--dry-run', ...ofOne);
    expect(dry.status).toBe(0);
    expect(dry.output).toMatch(
      /1 days differ .*\n2026-02-01 {2}wheel\.one {2}rounds 0 -> \d+ \(\+\d+\), work units 0 -> \d+ \(\+\d+\)\n/,
    );
    expect(dry.output).toContain('nothing was changed');
    expect(await state()).toEqual(damaged);
    expect(await database(listGenerations)).toEqual([1]);

    const real = await replay('--from-time', new Date(genesisMs).toISOString(), ...ofOne);
    expect([real.status, real.output]).toEqual([0, expect.stringContaining('1 days differ')]);
    const isOfTwo = ([id]: readonly unknown[]) => id === 'wheel:two';
    const rounds = before.rounds.filter((row) => !isOfTwo(row));
    expect(await state()).toEqual({ ...before, rounds });
    expect(await database(newestState)).toEqual(stateBefore);
    expect(await database((one, { readings }) => readRowsTtlDays(one, readings))).toBe(rowsTtlDaysMax);
    expect(await database(readGenerationIdentity)).toEqual(identity);
    // The dry run left nothing behind.
    expect(await database(async (_, tables) => tables.generation)).toBe(2);

    expect((await replay('--from-sequence', '1')).output).toContain('days differ');
    expect(await state()).toEqual(before);
    const again = await replay('--from-sequence', '1500');
    expect(again.output).toContain('no day differs');
    expect(await state()).toEqual(before);
    expect(await database(listGenerations)).toEqual([3, 4]);

    const miner = await restart();
    await waitUntilReady(miner);
    expect(miner.output()).toContain('"snapshot restored"');
    expect(await miner.metric('miner_messages_total{stream="MINER_COUNTER",outcome="accepted"}')).toBe(0);
    expect(await miner.metric('miner_stream_position{stream="MINER_COUNTER"}')).toBe(last);
    const rejected = await miner.metric('miner_messages_total{stream="MINER_COUNTER",outcome="rejected"}');
    expect(rejected).toBe(0);
    const audited = 'miner_audit_samples_total{kind="half_hour",outcome="agrees"}';
    await eventually(async () => ((await miner.metric(audited)) ?? 0) > 0, 'a half hour that agrees');
  });

  it('continues where it was stopped or killed, and says what prevents it', async () => {
    const { replay, state, environment, database, nats } = await foldPublished(({ connection }) =>
      publishMany(connection, 'wheel.one', 0, 12_000),
    );
    const before = await state();
    const first = startMinerCommand(['replay', '--from-sequence', '5'], environment);
    await first.written('replay of messages');
    expect(await first.end('SIGINT')).toBe(0);
    expect(first.output()).toContain('stopped; the same command resumes where it was');

    const other = await replay('--from-sequence', '6');
    expect(other.status).toBe(1);
    expect(other.output).toContain('another replay is unfinished, of messages 5 to 12000');
    const killed = startMinerCommand(['replay', '--from-sequence', '5'], environment);
    await killed.written('resuming the replay');
    // Paused, so that it cannot end before the other one has started.
    killed.child.kill('SIGSTOP');
    const beside = await replay('--from-sequence', '5');
    expect(beside.status).toBe(1);
    expect(beside.output).toMatch(/in use by process|a replay is running already/);
    await killed.end('SIGKILL');
    expect(await state()).toEqual(before);

    const discarded = await replay('--discard');
    expect([discarded.status, discarded.output]).toEqual([0, expect.stringContaining('is discarded')]);
    expect(await database(listGenerations)).toEqual([1]);
    const to = await replay('--from-sequence', '5', '--to', '7000');
    expect([to.status, to.output]).toEqual([0, expect.stringContaining('messages 5 to 7000')]);
    expect((await state()).readings).toHaveLength(7_000);

    const noTime = await replay('--from-time', 'yesterday');
    expect([noTime.status, noTime.output]).toEqual([1, expect.stringContaining('such as 2026-11-21')]);
    await nats.jsm.streams.purge('MINER_COUNTER', { seq: 6_001 });
    // Rows of lost messages stay, and the state before them is folded from the stored readings.
    const incomplete = await replay('--from-sequence', '1', '--incomplete');
    expect([incomplete.status, incomplete.output]).toEqual([
      0,
      expect.stringContaining('Messages 1 to 6000 cannot be rebuilt'),
    ]);
    expect((await state()).readings).toEqual(before.readings.slice(0, 7_000));
  });
});
