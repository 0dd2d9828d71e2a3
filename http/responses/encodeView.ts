import { toIsoStringOrNull } from './isoTime.ts';

/** What a member of a view in epoch milliseconds is called in a body, where it is ISO 8601: `endAtMs` is `endAt`. */
type BodyName<Name> = Name extends `${infer Time extends `${string}${'At' | 'Timestamp'}`}Ms` ? Time : Name;

/** The part of a body that shows a value of a view. */
export type Encoded<Value> = Value extends string
  ? Value
  : Value extends bigint
    ? string
    : Value extends readonly (infer Item)[]
      ? Encoded<Item>[]
      : Value extends object
        ? {
            -readonly [Name in keyof Value as BodyName<Name>]: BodyName<Name> extends Name
              ? Encoded<Value[Name]>
              : string | Extract<Value[Name], null>;
          }
        : Value;

/**
 * A value of a view as bodies have it: bigints are decimal strings, and times in epoch milliseconds (`...AtMs`, `...TimestampMs`) are ISO 8601 under a
 * name without the unit. Everything else stays as it is, all the way down.
 */
export function encodeView<Value>(value: Value): Encoded<Value>;
export function encodeView(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(encodeView);
  const body: Record<string, unknown> = {};
  for (const [name, member] of Object.entries(value)) {
    if (name.endsWith('AtMs') || name.endsWith('TimestampMs'))
      body[name.slice(0, -2)] = toIsoStringOrNull(member);
    else body[name] = encodeView(member);
  }
  return body;
}
