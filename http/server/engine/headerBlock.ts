export type Header = readonly [name: string, value: string];

export interface HeaderBlock {
  readonly headers: readonly Header[];
  /** All of them as lines that follow the value of another header. */
  readonly following: string;
}

/** Headers that are prepared, before one whose value differs between requests. */
export interface LeadingHeaders {
  readonly headers: readonly Header[];
  /** Name of the one behind them. */
  readonly lastName: string;
  /** All lines, to the end of that name. Bytes are copied as they are; the addon would measure and convert a text at each request. */
  readonly bytes: Buffer;
}

/** @throws Error when a value has a line break: what is written in one piece would contain a header that nobody wanted. */
export function prepareHeaders(headers: readonly Header[]): HeaderBlock {
  requireLines(headers);
  return { headers, following: headers.map((header) => `\r\n${header.join(': ')}`).join('') };
}

/** @throws Error when a value has a line break. */
export function prepareLeading(headers: readonly Header[], lastName: string): LeadingHeaders {
  requireLines([...headers, [lastName, '']]);
  const lines = headers.map((header) => `${header.join(': ')}\r\n`);
  return { headers, lastName, bytes: Buffer.from(lines.join('') + lastName) };
}

function requireLines(headers: readonly Header[]) {
  const lineBreak = headers.find(([name, value]) => /[\r\n]/.test(name + value));
  if (lineBreak !== undefined)
    throw new Error(`a header cannot contain a line break, but ${lineBreak[0]} does`);
}
