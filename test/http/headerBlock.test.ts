import { expect, it } from 'vitest';
import { prepareHeaders, prepareLeading } from '../../http/server/engine/headerBlock.ts';

it.each(['\r', '\n', '\r\n'])(
  'prepared headers cannot contain %j, which would begin another header',
  (lineBreak) => {
    expect(() => prepareHeaders([['Link', `a${lineBreak}b`]])).toThrow('cannot contain a line break');
    expect(() => prepareHeaders([[`A${lineBreak}B`, 'c']])).toThrow('cannot contain a line break');
    expect(() => prepareLeading([['Link', `a${lineBreak}b`]], 'C')).toThrow('cannot contain a line break');
    expect(() => prepareLeading([], `A${lineBreak}B`)).toThrow('cannot contain a line break');
  },
);
