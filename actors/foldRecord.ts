import { z } from 'zod';
import type { ReadonlyDeep } from '../machines/inferred.ts';
import { parse, stringify } from './bigintJson.ts';
import { readErrorMessage } from './readErrorMessage.ts';
import { compileGuard } from './schemas/compileGuard.ts';
import { createListForm } from './schemas/listForm.ts';

/** A piece of a fold's state as a snapshot has it. Of records with the same kind and key the last one counts. */
export interface FoldRecord {
  readonly kind: string;
  readonly key: string;
  /** JSON as `bigintJson.ts` writes it; null where the state does not hold the record any more. */
  readonly value: string | null;
}

/** A fold's state as it was at some moment. Its records are produced when they are requested, while folding continues. */
export interface StateCapture {
  readonly all: () => Iterable<FoldRecord>;
  /** Those that changed since the capture before; null where that is not known, as after a restoration. */
  readonly changes: (() => Iterable<FoldRecord>) | null;
}

/** A snapshot holds something else than its fold writes. */
export class RecordRefused extends Error {
  override readonly name = 'RecordRefused';
}

/** What is done with a snapshot; an error of it says that the snapshot is of no use. */
export function refuseOnError<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof RecordRefused) throw error;
    throw new RecordRefused(readErrorMessage(error), { cause: error });
  }
}

/** The records of one kind: what they hold is checked against a schema when they are read. */
interface RecordKind<Value> {
  readonly kind: string;
  readonly schema: z.ZodType;
  write(key: RecordKey, value: ReadonlyDeep<Value>): FoldRecord;
  /** The record with the value, or the one that says that there is none. */
  writeChange(key: RecordKey, value: ReadonlyDeep<Value> | undefined): FoldRecord;
  /**
   * Null where there is none.
   *
   * @throws RecordRefused
   */
  read(record: FoldRecord): Value | null;
}

export type RecordValue<Kind> = Kind extends RecordKind<infer Value> ? Value : never;

type RecordKey = string | number | bigint;

interface TextForm {
  write(value: unknown): string;
  /** @throws Error where the text is not that of a value. Whether the value fits its schema is checked afterwards. */
  read(json: string): unknown;
}

/** Records whose values are JSON with the names of members. */
export function defineRecord<Schema extends z.ZodType>(
  kind: string,
  schema: Schema,
): RecordKind<z.output<Schema>> {
  return defineForm(kind, schema, { write: stringify, read: parse });
}

/** Records of which a state has very many: their values are lists, without the names of members. */
export function defineListRecord<Schema extends z.ZodType>(
  kind: string,
  schema: Schema,
): RecordKind<z.output<Schema>> {
  const { write, read } = createListForm(schema, kind);
  return defineForm(kind, schema, {
    write: (value) => JSON.stringify(write(value)),
    read: (json) => read(JSON.parse(json)),
  });
}

function defineForm<Schema extends z.ZodType>(
  kind: string,
  schema: Schema,
  form: TextForm,
): RecordKind<z.output<Schema>> {
  const fits = compileGuard(schema);
  const write = (key: RecordKey, value: ReadonlyDeep<z.output<Schema>>) => ({
    kind,
    key: String(key),
    value: form.write(value),
  });
  return {
    kind,
    schema,
    write,
    writeChange: (key, value) =>
      value === undefined ? { kind, key: String(key), value: null } : write(key, value),
    read: ({ key, value: json }) => {
      if (json === null) return null;
      try {
        const value = form.read(json);
        if (fits(value)) return value;
        const { error } = schema.safeParse(value);
        throw new Error(error === undefined ? '' : z.prettifyError(error).replaceAll(/\s+/g, ' '));
      } catch (error) {
        const problem = readErrorMessage(error);
        throw new RecordRefused(`${kind} ${key} does not fit its schema: ${problem}`, { cause: error });
      }
    },
  };
}

/** Takes the records of one kind while a state is restored. */
interface RecordReader {
  readonly kind: string;
  take(record: FoldRecord): void;
}

export function readRecords<Value>(
  kind: RecordKind<Value>,
  take: (value: Value | null, key: string) => void,
): RecordReader {
  return { kind: kind.kind, take: (record) => take(kind.read(record), record.key) };
}

/** The records of one kind by their keys, in the order in which the keys came first. */
interface CollectedRecords<Value> extends RecordReader {
  readonly values: ReadonlyMap<string, Value>;
}

export function collectRecords<Value>(kind: RecordKind<Value>): CollectedRecords<Value> {
  const values = new Map<string, Value>();
  const reader = readRecords(kind, (value, key) => {
    if (value === null) values.delete(key);
    else values.set(key, value);
  });
  return { ...reader, values };
}

/** Gives each record to the reader of its kind; throws {@link RecordRefused} for a kind that none reads. */
export function dispatchRecords(...readers: readonly RecordReader[]): (record: FoldRecord) => void {
  const byKind = new Map(readers.map((reader) => [reader.kind, reader]));
  return (record) => {
    const reader = byKind.get(record.kind);
    if (reader === undefined) throw new RecordRefused(`${record.kind} is no kind of record of this fold`);
    reader.take(record);
  };
}

/** Something that is being restored from the records of a snapshot, which are added one after another. */
export interface Restoration<Result> {
  /** @throws RecordRefused when it is no record of the fold. */
  add(record: FoldRecord): void;
  /** @throws RecordRefused when the records do not make up a state. */
  complete(): Result;
}

/** What is restored replaces the state of an actor when the result is called; nothing has changed before. */
export type StateRestoration = Restoration<() => void>;

/** A record as a line of text: neither a key nor JSON holds a tab or a line feed. */
export function formatRecord({ kind, key, value }: FoldRecord): string {
  return `${kind}\t${key}\t${value ?? ''}`;
}

/** @throws RecordRefused when it is no line that {@link formatRecord} made. */
export function parseRecord(line: string): FoldRecord {
  const keyAt = line.indexOf('\t') + 1;
  const valueAt = line.indexOf('\t', keyAt) + 1;
  if (keyAt === 0 || valueAt === 0) throw new RecordRefused('a line of a snapshot is no record');
  const value = line.slice(valueAt);
  return {
    kind: line.slice(0, keyAt - 1),
    key: line.slice(keyAt, valueAt - 1),
    value: value === '' ? null : value,
  };
}
