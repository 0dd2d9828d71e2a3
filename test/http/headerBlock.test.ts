import { describe, expect, it } from 'vitest';
import { prepareHeaders, prepareLeading } from '../../http/server/engine/headerBlock.ts';

describe('prepared headers', () => {
  it('are lines that follow the value of another header', () => {
    const headers = [
      ['Vary', 'Origin'],
      ['ETag', '"1"'],
    ] as const;
    expect(prepareHeaders(headers)).toEqual({ headers, following: '\r\nVary: Origin\r\nETag: "1"' });
  });

  it('are lines before the value of another header', () => {
    const { bytes } = prepareLeading([['Vary', 'Origin']], 'X-Request-Id');
    expect(bytes.toString()).toBe('Vary: Origin\r\nX-Request-Id');
    expect(prepareLeading([], 'X-Request-Id').bytes.toString()).toBe('X-Request-Id');
  });

  it.each(['\r', '\n', '\r\n'])('cannot contain %j, which would begin another header', (lineBreak) => {
    expect(() => prepareHeaders([['Link', `a${lineBreak}b`]])).toThrow('cannot contain a line break');
    expect(() => prepareHeaders([[`A${lineBreak}B`, 'c']])).toThrow('cannot contain a line break');
    expect(() => prepareLeading([['Link', `a${lineBreak}b`]], 'C')).toThrow('cannot contain a line break');
    expect(() => prepareLeading([], `A${lineBreak}B`)).toThrow('cannot contain a line break');
  });
});
