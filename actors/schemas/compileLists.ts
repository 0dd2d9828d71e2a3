import { z } from 'zod';
import { type Check, compileCheck } from './compileCheck.ts';

/** Values as lists: an object is the list of its members, in the order of its schema, and a bigint a number, or a string where no number is as exact. */
export interface ListForm {
  write(value: unknown): unknown;
  /**
   * Of what JSON holds.
   *
   * @throws Error where {@link write} makes nothing like it of a value that fits the schema.
   */
  read(item: unknown): unknown;
}

const identifier = /^[a-zA-Z]+$/;

/**
 * Compiled from a schema, as if it had been written out by hand: hundreds of thousands of values are read at a start. Without the names of members
 * there is half the text to parse, and a value is checked while it is made. Only names of members become source text, and those are written in
 * this program.
 */
export function compileListForm(schema: z.ZodType, place: string): ListForm {
  if (schema instanceof z.ZodObject) return compileObject(schema, place);
  if (schema instanceof z.ZodNullable) {
    const { write, read } = compileListForm(schema.unwrap() as z.ZodType, place);
    return {
      write: (value) => (value === null ? null : write(value)),
      read: (item) => (item === null ? null : read(item)),
    };
  }
  if (schema instanceof z.ZodArray) {
    const { write, read } = compileListForm(schema.element as z.ZodType, place);
    return {
      write: (value) => (value as readonly unknown[]).map(write),
      read: (item) => (Array.isArray(item) ? item.map(read) : refuse(place, item)),
    };
  }
  if (schema instanceof z.ZodBigInt)
    return {
      write: (value) => toExactNumber(value as bigint),
      read: (item) =>
        Number.isSafeInteger(item) || typeof item === 'string'
          ? BigInt(item as number | string)
          : refuse(place, item),
    };
  const fits: Check = compileCheck(schema);
  return { write: (value) => value, read: (item) => (fits(item) ? item : refuse(place, item)) };
}

function compileObject(schema: z.ZodObject, place: string): ListForm {
  const members = Object.entries(schema.shape).map(([key, member]) => {
    if (!identifier.test(key)) throw new Error(`${key} cannot be the name of a member`);
    return { key, ...compileListForm(member, `${place}.${key}`) };
  });
  const parts = members.map((_, at) => `part${at}`);
  const items = parts.map((part, at) => `${part}(value.${members[at]?.key})`);
  const properties = parts.map((part, at) => `${members[at]?.key}: ${part}(items[${at}])`);
  const make: (items: readonly unknown[]) => unknown = new Function(
    ...parts,
    `return (items) => ({ ${properties.join(', ')} });`,
  )(...members.map(({ read }) => read));
  return {
    write: new Function(...parts, `return (value) => [${items.join(', ')}];`)(
      ...members.map(({ write }) => write),
    ),
    read: (item) =>
      Array.isArray(item) && item.length === members.length ? make(item) : refuse(place, item),
  };
}

function toExactNumber(value: bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}

function refuse(place: string, item: unknown): never {
  throw new Error(`${place} is ${JSON.stringify(item)}`);
}
