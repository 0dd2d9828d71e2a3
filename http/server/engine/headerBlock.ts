export type Header = readonly [name: string, value: string];

/** Prepared headers that follow a header whose value differs between requests. */
export interface HeaderBlock {
  readonly headers: readonly Header[];
  /** All headers as lines that can be appended to the value of another header. */
  readonly following: string;
}

/** Prepared headers that precede a header whose value differs between requests. */
export interface LeadingHeaders {
  readonly headers: readonly Header[];
  /** Name of that header. */
  readonly lastName: string;
  /** All lines, through that name. As bytes, since the addon would measure and convert a text at each request. */
  readonly bytes: Buffer;
}

/** @throws Error if a name or value has a line break, which would inject another header. */
export function prepareHeaders(headers: readonly Header[]): HeaderBlock {
  requireLines(headers);
  return { headers, following: headers.map((header) => `\r\n${header.join(': ')}`).join('') };
}

/** @throws Error if a name or value has a line break. */
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
