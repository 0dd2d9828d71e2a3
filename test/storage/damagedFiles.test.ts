import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, truncateSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type FoldRecord, parseRecord } from '../../actors/foldRecord.ts';
import { findDamagedParts } from '../../storage/damagedParts.ts';
import { openDatabase } from '../../storage/database.ts';
import { migrate } from '../../storage/migrations.ts';
import { isRefusal } from '../../storage/readSnapshotRecords.ts';
import { createSnapshotStore } from '../../storage/snapshots.ts';
import { temporaryDirectory } from '../support/processes/temporaryDirectory.ts';
import { silentLogger } from '../support/silentLogger.ts';

async function openStore(path: string) {
  const database = openDatabase({ path });
  const tables = await migrate(database, silentLogger);
  const store = createSnapshotStore({ database, tables: () => tables, logger: silentLogger });
  return { database, store };
}

function buildHeader(position: number) {
  const ofStream = { stream: 'MINER_CHAIN', foldVersion: 1, configuration: 'c', streamCreated: 's' } as const;
  return { ...ofStream, position, digest: null, takenAtMs: position };
}

/** Incompressible, so most of the file is its payload. */
const text = Array.from({ length: 50 }, (_, at) => createHash('sha256').update(String(at)).digest('base64'));
const state: readonly FoldRecord[] = [{ kind: 'value', key: '1', value: JSON.stringify(text) }];

/** Changes one bit in the middle. */
function damageFile(file: string) {
  const bytes = readFileSync(file);
  const middle = Math.floor(bytes.length / 2);
  bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle);
  writeFileSync(file, bytes);
}

it.each([
  // A read notices it.
  ['is damaged', damageFile, 0],
  // ClickHouse notices it at the start, and drops the part.
  ['is cut short', (file: string) => truncateSync(file, Math.floor(statSync(file).size / 2)), 1],
  ['is missing', (file: string) => unlinkSync(file), 1],
] as const)(
  'a snapshot of which a file %s is not restored, the one before is',
  async (_, damage, setAside) => {
    const path = temporaryDirectory();
    const first = await openStore(path);
    const listFiles = () =>
      readdirSync(path, { recursive: true, encoding: 'utf8' })
        .filter((one) => one.endsWith('/data.bin'))
        .map((one) => join(path, one));
    await first.store.saveBase(buildHeader(10), state);
    const before = listFiles();
    await first.store.saveBase(buildHeader(20), state);
    const [file] = listFiles().filter((one) => !before.includes(one));
    if (file === undefined) throw new Error('the snapshot has no file of its own');
    await first.database.close();
    damage(file);

    const { database, store } = await openStore(path);
    onTestFinished(() => database.close());
    expect((await findDamagedParts(database)).map(({ count }) => count)).toEqual(
      setAside === 0 ? [] : [setAside],
    );
    const restored: number[] = [];
    for (const header of await store.list('MINER_CHAIN')) {
      const records: FoldRecord[] = [];
      try {
        for await (const lines of store.read(header)) records.push(...lines.map(parseRecord));
      } catch (error) {
        expect(isRefusal(error), String(error)).toBe(true);
        continue;
      }
      expect(records).toEqual(state);
      restored.push(header.position);
    }
    expect(restored).toEqual([10]);
  },
);
