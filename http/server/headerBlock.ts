/** A header of a response. */
export type Header = readonly [name: string, value: string];

/** Headers that are prepared with the bytes that they go with, and written at once. */
export interface HeaderBlock {
  readonly headers: readonly Header[];
  /** All of them as lines that follow the value of another header. */
  readonly following: string;
}

/**
 * @throws Error when a value has a line break: what is written in one piece would contain a header that nobody wanted.
 */
export function prepareHeaders(headers: readonly Header[]): HeaderBlock {
  const lineBreak = headers.find(([name, value]) => /[\r\n]/.test(name + value));
  if (lineBreak !== undefined)
    throw new Error(`a header cannot contain a line break, but ${lineBreak[0]} does`);
  return { headers, following: headers.map((header) => `\r\n${header.join(': ')}`).join('') };
}
