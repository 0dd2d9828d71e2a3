/** Name of a view's member in the body. Times lose their unit, since bodies show them in ISO 8601: `endAtMs` becomes `endAt`. */
type BodyName<Name> = Name extends `${infer Time extends `${string}${'At' | 'Timestamp'}`}Ms` ? Time : Name;

/** Type of a view's value in a body. */
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
 * Encodes a view's value for a body, recursively. Bigints become decimal strings. Times in epoch milliseconds (`...AtMs`,
 * `...TimestampMs`) become ISO 8601 under a name without the unit. Everything else stays unchanged.
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

/** The latest time with a four-digit year. Later times, which a contract may hold, are shown as this one. */
const latestShownMs = Date.UTC(9999, 11, 31, 23, 59, 59, 999);

/**
 * @param timeMs epoch milliseconds.
 * @returns the time in ISO 8601, at most the end of the year 9999.
 */
export function toIsoString(timeMs: number): string {
  return new Date(Math.min(timeMs, latestShownMs)).toISOString();
}

export function toIsoStringOrNull(timeMs: number | null): string | null {
  return timeMs === null ? null : toIsoString(timeMs);
}
