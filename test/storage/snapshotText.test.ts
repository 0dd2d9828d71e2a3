import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { type FoldRecord, RecordRefused } from '../../actors/folds/foldRecord.ts';
import { RecordsDamaged } from '../../actors/pages/olderRows.ts';
import {
  isRefusal,
  readPayloads,
  SnapshotDamaged,
  writePayloads,
} from '../../storage/snapshots/snapshotText.ts';

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

const readBack = async ({ payloads, checksum }: Awaited<ReturnType<typeof writePayloads>>) =>
  (await collect(readPayloads(stream(payloads), checksum))).flat();

it('the text of a snapshot is read as written, in bounded payloads', async () => {
  const written = await writePayloads(records);
  const sizes = written.payloads.map(({ length }) => length);
  expect(sizes.length).toBeGreaterThan(2);
  expect(Math.min(...sizes.slice(0, -1))).toBeGreaterThanOrEqual(256 * 1024);
  expect(Math.max(...sizes)).toBeLessThan(512 * 1024);
  expect(await readBack(written)).toEqual(records);
  expect(await readBack(await writePayloads([]))).toEqual([]);
});

it('a text that was damaged is refused', async () => {
  const { payloads, checksum } = await writePayloads(records.slice(0, 10));
  const [payload] = payloads as [string];
  const cut = payload.slice(0, -8);
  const refuse = (damaged: readonly string[], expected: string, problem: string) =>
    expect(readBack({ payloads: damaged, checksum: expected })).rejects.toThrow(new SnapshotDamaged(problem));
  await refuse(payloads, '0', 'the checksum does not match');
  await refuse([], checksum, 'the compressed data is damaged');
  // An empty text, and something after it.
  await refuse([`BgAA${payload}`], checksum, 'the checksum does not match');
  await refuse([cut], createHash('sha256').update(cut).digest('hex'), 'the compressed data is damaged');
});

it('a snapshot is read without blocking the event loop for long', async () => {
  const { payloads, checksum } = await writePayloads(records);
  let turns = 0;
  let isOver = false;
  const countTurn = () => {
    turns++;
    if (!isOver) setImmediate(countTurn);
  };
  setImmediate(countTurn);
  const lists = await collect(readPayloads(stream(payloads), checksum));
  isOver = true;
  expect(lists.length).toBeGreaterThan(20);
  expect(turns).toBeGreaterThanOrEqual(lists.length);
});

it('a line that is no record makes a snapshot unusable', async () => {
  const written = await writePayloads([{ kind: 'a', key: 'b', value: 'c\nno record' }]);
  await expect(readBack(written)).rejects.toThrow(RecordRefused);
  const errors = [new SnapshotDamaged(), new RecordRefused(), new RecordsDamaged(''), new Error()];
  expect(errors.map(isRefusal)).toEqual([true, true, true, false]);
});
