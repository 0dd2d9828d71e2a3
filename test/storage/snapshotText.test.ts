import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { type FoldRecord, parseRecord, RecordRefused } from '../../actors/foldRecord.ts';
import { isRefusal, readSnapshotRecords } from '../../storage/readSnapshotRecords.ts';
import { type Chunk, readChunks, SnapshotDamaged, writeChunks } from '../../storage/snapshotText.ts';
import { StorageDamaged } from '../../storage/storageUnavailable.ts';
import type { StoredSnapshotHeader } from '../../storage/tables/foldSnapshot.ts';

/** More than a megabyte, also when it is compressed. Pieces end inside of characters of several bytes. */
const records: FoldRecord[] = Array.from({ length: 20_000 }, (_, at) => ({
  kind: 'value',
  key: `ä${at}`,
  value: JSON.stringify(`€ ${createHash('sha256').update(String(at)).digest('hex')}`),
}));

async function* stream<Item>(items: readonly Item[]) {
  yield* items;
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

const readBack = async (chunks: readonly Chunk[]) =>
  (await collect(readChunks(stream(chunks)))).flat().map(parseRecord);

it('the text of a snapshot is read as it was written, in chunks of bounded size', async () => {
  const chunks = await collect(writeChunks(records));
  const sizes = chunks.map(({ payload }) => payload.length);
  expect(sizes.length).toBeGreaterThan(2);
  expect(Math.min(...sizes.slice(0, -1))).toBeGreaterThanOrEqual(256 * 1024);
  expect(Math.max(...sizes)).toBeLessThan(512 * 1024);
  const last = { payload: expect.any(String), checksum: expect.stringMatching(/^[0-9a-f]{64}$/) };
  expect(chunks).toEqual([...chunks.slice(1).map(() => ({ ...last, checksum: null })), last]);
  expect(await readBack(chunks)).toEqual(records);
  expect(await readBack(await collect(writeChunks([])))).toEqual([]);
});

it('a text that was damaged is refused', async () => {
  const [chunk] = (await collect(writeChunks(records.slice(0, 10)))) as [Chunk];
  const cut = chunk.payload.slice(0, -8);
  const checksum = createHash('sha256').update(cut).digest('hex');
  const refuse = (damaged: Chunk[], problem: string) =>
    expect(readBack(damaged)).rejects.toThrow(new SnapshotDamaged(problem));
  await refuse([{ ...chunk, checksum: '0' }], 'the checksum does not match');
  await refuse([{ payload: cut, checksum }], 'the compressed data is damaged');
  await expect(readBack([chunk, { payload: '', checksum: null }])).rejects.toThrow('the checksum');
});

it('a snapshot is read without blocking the event loop for long', async () => {
  const chunks = await collect(writeChunks(records));
  let turns = 0;
  let isOver = false;
  const countTurn = () => {
    turns++;
    if (!isOver) setImmediate(countTurn);
  };
  setImmediate(countTurn);
  const lists = await collect(readChunks(stream(chunks)));
  isOver = true;
  expect(lists.length).toBeGreaterThan(20);
  expect(turns).toBeGreaterThanOrEqual(lists.length);
});

it('a line that is no record makes a snapshot unusable, as damage does, and other errors do not', async () => {
  const read = (lines: readonly string[]) =>
    collect(readSnapshotRecords({ read: () => stream([lines]) }, {} as StoredSnapshotHeader));
  expect(await read(['a\tb\tc', 'a\tb\t'])).toEqual([
    [
      { kind: 'a', key: 'b', value: 'c' },
      { kind: 'a', key: 'b', value: null },
    ],
  ]);
  await expect(read(['a'])).rejects.toThrow(RecordRefused);
  const errors = [new SnapshotDamaged(), new RecordRefused(), new StorageDamaged(''), new Error()];
  expect(errors.map(isRefusal)).toEqual([true, true, true, false]);
});
