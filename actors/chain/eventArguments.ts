/** Arguments of a decoded event as what they are. Each throws a TypeError for anything else. */

export function whole(value: unknown): bigint {
  if (typeof value !== 'bigint') throw new TypeError(`expected an integer, given ${typeof value}`);
  return value;
}

export function text(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError(`expected a string, given ${typeof value}`);
  return value;
}

export function lower(value: unknown): string {
  return text(value).toLowerCase();
}
