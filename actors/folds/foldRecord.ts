import { z } from 'zod';
import type { ReadonlyDeep } from '../../machines/inferred.ts';
import { readErrorMessage } from '../readErrorMessage.ts';
import { compileGuard } from '../schemas/compileSchema.ts';
import { createListForm } from '../schemas/listForm.ts';
import { parse, stringify } from './bigintJson.ts';

/** A piece of a fold's state in a snapshot. Kind and key together identify it. */
export interface FoldRecord {
  readonly kind: string;
  readonly key: string;
  /** JSON as `bigintJson.ts` writes it. */
  readonly value: string;
}

/** Thrown for a snapshot that its fold cannot have written. */
export class RecordRefused extends Error {
  override readonly name = 'RecordRefused';
}

/** Runs work on a snapshot. Any error becomes a {@link RecordRefused}, since it makes the snapshot unusable. */
export function refuseOnError<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof RecordRefused) throw error;
    throw new RecordRefused(readErrorMessage(error), { cause: error });
  }
}

/** The records of one kind. Their values are checked against a schema when they are read. */
interface RecordKind<Value> {
  readonly kind: string;
  readonly schema: z.ZodType;
  write(key: RecordKey, value: ReadonlyDeep<Value>): FoldRecord;
  /** @throws RecordRefused if the value does not fit the schema. */
  read(record: FoldRecord): Value;
}

export type RecordValue<Kind> = Kind extends RecordKind<infer Value> ? Value : never;

type RecordKey = string | number | bigint;

interface TextForm {
  write(value: unknown): string;
  /** @throws Error if the text is malformed. Whether the value fits its schema is checked afterwards. */
  read(json: string): unknown;
}

/** Defines records whose values are JSON with the names of members. */
export function defineRecord<Schema extends z.ZodType>(
  kind: string,
  schema: Schema,
): RecordKind<z.input<Schema>> {
  return defineForm(kind, schema, { write: stringify, read: parse });
}

/** Defines records for very frequent values: JSON lists without the names of members. */
export function defineListRecord<Schema extends z.ZodType>(
  kind: string,
  schema: Schema,
): RecordKind<z.input<Schema>> {
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
): RecordKind<z.input<Schema>> {
  const fits = compileGuard(schema);
  return {
    kind,
    schema,
    write: (key, value) => ({ kind, key: String(key), value: form.write(value) }),
    read: ({ key, value: json }) => {
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
  take: (value: Value, key: string) => void,
): RecordReader {
  return { kind: kind.kind, take: (record) => take(kind.read(record), record.key) };
}

/** Values of one kind by key, in order of the keys' first occurrence. */
interface CollectedRecords<Value> extends RecordReader {
  readonly values: ReadonlyMap<string, Value>;
}

export function collectRecords<Value>(kind: RecordKind<Value>): CollectedRecords<Value> {
  const values = new Map<string, Value>();
  const reader = readRecords(kind, (value, key) => {
    values.set(key, value);
  });
  return { ...reader, values };
}

/** Passes each record to the reader of its kind. Throws {@link RecordRefused} for an unknown kind. */
export function dispatchRecords(...readers: readonly RecordReader[]): (record: FoldRecord) => void {
  const byKind = new Map(readers.map((reader) => [reader.kind, reader]));
  return (record) => {
    const reader = byKind.get(record.kind);
    if (reader === undefined) throw new RecordRefused(`${record.kind} is not a kind of record of this fold`);
    reader.take(record);
  };
}

/** A restoration from the records of a snapshot, which are added one after another. */
export interface Restoration<Result> {
  /** @throws RecordRefused if the record does not belong to the fold. */
  add(record: FoldRecord): void;
  /** @throws RecordRefused if the records do not make up a state. */
  complete(): Result;
}

/** A restoration whose result is a function that replaces the actor's state. Nothing changes before it is called. */
export type StateRestoration = Restoration<() => void>;

/** A record as a line of text. Keys and JSON contain no tab or line feed. */
export function formatRecord({ kind, key, value }: FoldRecord): string {
  return `${kind}\t${key}\t${value}`;
}

/** @throws RecordRefused if {@link formatRecord} cannot have made the line. */
export function parseRecord(line: string): FoldRecord {
  const keyAt = line.indexOf('\t') + 1;
  const valueAt = line.indexOf('\t', keyAt) + 1;
  if (valueAt === 0) throw new RecordRefused('a line of a snapshot is not a record');
  return {
    kind: line.slice(0, keyAt - 1),
    key: line.slice(keyAt, valueAt - 1),
    value: line.slice(valueAt),
  };
}
