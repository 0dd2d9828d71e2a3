import { z } from 'zod';
import { type Json, reviveBigints, tagBigints } from './bigintJson.ts';

/**
 * Values without names: an object is a list of its members in the order of its schema. A bigint is a number, or a string if it is not a safe integer. Unions,
 * and objects that may lack members, keep their names.
 */
interface ListForm {
  write(value: unknown): unknown;
  /**
   * The value of a list that {@link write} made. Whether texts, numbers and literals fit the schema is not checked.
   *
   * @throws Error if a list has the wrong length, or a bigint of the schema is not an integer.
   */
  read(item: unknown): unknown;
}

const named: ListForm = { write: tagBigints, read: (item) => reviveBigints(item as Json) };

/** Creates the list form of a schema. It halves the text to parse, and a start reads hundreds of thousands of values. */
export function createListForm(schema: z.ZodType, place: string): ListForm {
  if (schema instanceof z.ZodObject) {
    const members = Object.values<z.ZodType>(schema.shape);
    if (members.some((member) => member instanceof z.ZodOptional)) return named;
    return createObjectForm(schema.shape, place);
  }
  if (schema instanceof z.ZodNullable) {
    const { write, read } = createListForm(schema.unwrap() as z.ZodType, place);
    return {
      write: (value) => (value === null ? null : write(value)),
      read: (item) => (item === null ? null : read(item)),
    };
  }
  if (schema instanceof z.ZodArray) {
    const { write, read } = createListForm(schema.element as z.ZodType, place);
    return {
      write: (value) => (value as readonly unknown[]).map(write),
      read: (item) => (Array.isArray(item) ? item.map(read) : refuse(place, item)),
    };
  }
  if (!(schema instanceof z.ZodBigInt)) return named;
  return {
    write: (value) => toExactNumber(value as bigint),
    read: (item) =>
      typeof item === 'string' || Number.isSafeInteger(item)
        ? BigInt(item as string | number)
        : refuse(place, item),
  };
}

function createObjectForm(shape: Readonly<Record<string, z.ZodType>>, place: string): ListForm {
  const members = Object.entries(shape).map(
    ([key, member]) => [key, createListForm(member, `${place}.${key}`)] as const,
  );
  return {
    write: (value) => members.map(([key, { write }]) => write((value as Record<string, unknown>)[key])),
    read: (item) => {
      if (!Array.isArray(item) || item.length !== members.length) return refuse(place, item);
      const value: Record<string, unknown> = {};
      let at = 0;
      for (const [key, { read }] of members) value[key] = read(item[at++]);
      return value;
    },
  };
}

function toExactNumber(value: bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}

function refuse(place: string, item: unknown): never {
  throw new Error(`${place} is ${JSON.stringify(item)}`);
}
