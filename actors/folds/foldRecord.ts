import { z } from 'zod';
import type { ReadonlyDeep } from '../../machines/inferred.ts';
import { readErrorMessage } from '../readErrorMessage.ts';
import { compileGuard } from '../schemas/compileSchema.ts';
import { createListForm } from './listForm.ts';

/** A piece of a fold's state in a snapshot. Kind and key together identify it. */
export interface FoldRecord {
  readonly kind: string;
  readonly key: string;
  /** JSON. */
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

/** One kind of a fold's records: which ones a state has, and what a restoration does with them. */
interface RecordKind<State, Draft> {
  readonly kind: string;
  /** Values are checked against it when they are read. */
  readonly schema: z.ZodType;
  list(state: State): Iterable<FoldRecord>;
  /** @throws RecordRefused if the value does not fit the schema. */
  restore(draft: Draft, record: FoldRecord): void;
}

interface KindOptions<State, Draft, Value> {
  /** Keys and values of the records of a state. */
  readonly list: (state: State) => Iterable<readonly [key: string | number | bigint, ReadonlyDeep<Value>]>;
  /** Puts a value into the draft, in which a restoration collects. */
  readonly restore: (draft: Draft, value: Value, key: string) => void;
}

/** Returns the function that defines the kinds of one fold. Values are JSON in the form of `listForm.ts`. */
export function kindsOf<State, Draft>() {
  return <Schema extends z.ZodType>(
    kind: string,
    schema: Schema,
    { list, restore }: KindOptions<State, Draft, z.input<Schema>>,
  ): RecordKind<State, Draft> => {
    const form = createListForm(schema, kind);
    const fits = compileGuard(schema);
    const read = ({ key, value: json }: FoldRecord) => {
      try {
        const value = form.read(JSON.parse(json));
        if (fits(value)) return value;
        const { error } = schema.safeParse(value);
        throw new Error(error === undefined ? '' : z.prettifyError(error).replaceAll(/\s+/g, ' '));
      } catch (error) {
        const problem = readErrorMessage(error);
        throw new RecordRefused(`${kind} ${key} does not fit its schema: ${problem}`, { cause: error });
      }
    };
    return {
      kind,
      schema,
      *list(state) {
        for (const [key, value] of list(state))
          yield { kind, key: String(key), value: JSON.stringify(form.write(value)) };
      },
      restore: (draft, record) => restore(draft, read(record), record.key),
    };
  };
}

/** The one record of a kind, with an empty key; none for null. */
export function listOne<Value>(value: Value | null): (readonly ['', Value])[] {
  return value === null ? [] : [['', value]];
}

export function* listBy<Key, Value>(
  keyOf: (value: Value) => Key,
  values: Iterable<Value>,
): Iterable<readonly [Key, Value]> {
  for (const value of values) yield [keyOf(value), value];
}

/** Lists values by number, from a first one. */
export function* listFrom<Value>(first: number, values: Iterable<Value>): Iterable<readonly [number, Value]> {
  let number = first;
  for (const value of values) yield [number++, value];
}

/** Values by number as a list. @throws RecordRefused if one is missing. */
export function listByNumber<Value>(
  what: string,
  values: ReadonlyMap<number, Value>,
  first: number,
): readonly Value[] {
  return Array.from(values, (_, index) => {
    const value = values.get(first + index);
    if (value === undefined) throw new RecordRefused(`${what} ${first + index} is missing`);
    return value;
  });
}

export function* listRecords<State>(
  kinds: readonly RecordKind<State, never>[],
  state: State,
): Iterable<FoldRecord> {
  for (const kind of kinds) yield* kind.list(state);
}

/** Returns what puts a record into a draft. It throws {@link RecordRefused} for an unknown kind. */
export function restoreInto<Draft>(kinds: readonly RecordKind<never, Draft>[]) {
  const byKind = new Map(kinds.map((one) => [one.kind, one]));
  return (draft: Draft, record: FoldRecord): void => {
    const kind = byKind.get(record.kind);
    if (kind === undefined) throw new RecordRefused(`${record.kind} is not a kind of record of this fold`);
    kind.restore(draft, record);
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
