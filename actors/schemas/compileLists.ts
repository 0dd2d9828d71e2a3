import { z } from 'zod';

/** Values as lists: an object is the list of its members, in the order of its schema, and a bigint a number, or a string where no number is as exact. */
interface ListForm {
  write(value: unknown): unknown;
  /**
   * The value of a list that {@link write} made. Texts, numbers and literals are those of the list: whether they fit the schema is not checked.
   *
   * @throws Error for anything that is no list of the members, or no integer where the schema has one.
   */
  read(item: unknown): unknown;
}

const identifier = /^[a-zA-Z]+$/;

/**
 * Compiled from a schema, as if it had been written out by hand: hundreds of thousands of values are read at a start. Without the names of members
 * there is half the text to parse. Each object has a source of its own, in which a call is always of the
 * same function. Only names of members become source text, and those are written in this program.
 */
export function compileListForm(schema: z.ZodType, place: string): ListForm {
  return {
    write: compile((refer) => emitWrite(schema, 'value', refer)),
    read: compile((refer) => emitRead(schema, 'value', { place, refer })),
  };
}

/** Names a value in the source. */
type Refer = (value: unknown) => string;

function compile(emit: (refer: Refer) => string): (value: unknown) => unknown {
  const values: unknown[] = [];
  const body = emit((value) => `value${values.push(value)}`);
  const names = values.map((_, at) => `value${at + 1}`);
  return new Function(...names, `return (value) => ${body};`)(...values);
}

function emitWrite(schema: z.ZodType, value: string, refer: Refer): string {
  if (schema instanceof z.ZodObject) {
    const items = listMembers(schema).map(([key, member]) => emitWrite(member, `${value}.${key}`, refer));
    return `[${items.join(', ')}]`;
  }
  if (schema instanceof z.ZodNullable)
    return `(${value} === null ? null : ${emitWrite(schema.unwrap() as z.ZodType, value, refer)})`;
  if (schema instanceof z.ZodArray) {
    const write = compile((inner) => emitWrite(schema.element as z.ZodType, 'value', inner));
    return `${value}.map(${refer(write)})`;
  }
  if (schema instanceof z.ZodBigInt) return `${refer(toExactNumber)}(${value})`;
  return value;
}

function emitRead(
  schema: z.ZodType,
  item: string,
  { place, refer }: { readonly place: string; readonly refer: Refer },
): string {
  const orRefuse = (condition: string, result: string) =>
    `(${condition} ? ${result} : ${refer(refuse)}(${refer(place)}, ${item}))`;
  if (schema instanceof z.ZodObject) return `${refer(compileObjectReader(schema, place))}(${item})`;
  if (schema instanceof z.ZodNullable)
    return `(${item} === null ? null : ${emitRead(schema.unwrap() as z.ZodType, item, { place, refer })})`;
  if (schema instanceof z.ZodArray) {
    const read = compile((inner) => emitRead(schema.element as z.ZodType, 'value', { place, refer: inner }));
    return orRefuse(`Array.isArray(${item})`, `${item}.map(${refer(read)})`);
  }
  if (schema instanceof z.ZodBigInt)
    return orRefuse(`typeof ${item} === 'string' || Number.isSafeInteger(${item})`, `BigInt(${item})`);
  return item;
}

function compileObjectReader(schema: z.ZodObject, place: string): (item: unknown) => unknown {
  const members = listMembers(schema);
  return compile((refer) => {
    const properties = members.map(
      ([key, member], at) =>
        `${key}: ${emitRead(member, `value[${at}]`, { place: `${place}.${key}`, refer })}`,
    );
    const isList = `Array.isArray(value) && value.length === ${members.length}`;
    return `${isList} ? { ${properties.join(', ')} } : ${refer(refuse)}(${refer(place)}, value)`;
  });
}

function listMembers(schema: z.ZodObject): (readonly [key: string, member: z.ZodType])[] {
  return Object.entries(schema.shape as Record<string, z.ZodType>).map(([key, member]) => {
    if (!identifier.test(key)) throw new Error(`${key} cannot be the name of a member`);
    return [key, member];
  });
}

function toExactNumber(value: bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}

function refuse(place: string, item: unknown): never {
  throw new Error(`${place} is ${JSON.stringify(item)}`);
}
