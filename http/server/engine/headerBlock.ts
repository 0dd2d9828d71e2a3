export type Header = readonly [name: string, value: string];

/** Prepared headers that follow a header whose value differs between requests. */
export type HeaderBlock = ReturnType<typeof prepareHeaders>;

/** @throws Error if a name or value has a line break, which would inject another header. */
export function prepareHeaders(headers: readonly Header[]) {
  requireLines(headers);
  /** All headers as lines that can be appended to the value of another header. */
  const following = headers.map((header) => `\r\n${header.join(': ')}`).join('');
  return { headers, following };
}

/** Prepared headers that precede a header whose value differs between requests. */
export type LeadingHeaders = ReturnType<typeof prepareLeading>;

/**
 * @param lastName name of the header that they precede.
 * @throws Error if a name or value has a line break.
 */
export function prepareLeading(headers: readonly Header[], lastName: string) {
  requireLines([...headers, [lastName, '']]);
  const lines = headers.map((header) => `${header.join(': ')}\r\n`);
  /** All lines, through that name. As bytes, since the addon would measure and convert a text at each request. */
  const bytes = Buffer.from(lines.join('') + lastName);
  return { headers, lastName, bytes };
}

function requireLines(headers: readonly Header[]) {
  const lineBreak = headers.find(([name, value]) => /[\r\n]/.test(name + value));
  if (lineBreak !== undefined)
    throw new Error(`a header cannot contain a line break, but ${lineBreak[0]} does`);
}
