import { expect, it } from 'vitest';
import { createClient } from '../../http/client/index.ts';

const page = (of: string, nextCursor: string | null) => ({ status: 'available', of, nextCursor });
const gone = { status: 'unavailable', reason: 'indexer_unavailable' };
const first = page('first', 'second');
const last = page('last', null);
/** A status with the code of its error. */
type Refusal = readonly [status: number, code: string];
const invalidated: Refusal = [409, 'cursor_invalidated'];

/** Reads all pages from these answers. @returns what was read, what was asked for, and the code of the error. */
async function readAll(answers: readonly (object | Refusal)[]) {
  const asked: string[] = [];
  const client = createClient({
    baseUrl: 'http://miner.example',
    fetch: async (url) => {
      const answer = answers[asked.length];
      asked.push(new URL(String(url)).search);
      if (answer === undefined) throw new Error('it starts again for ever');
      if (!Array.isArray(answer)) return Response.json(answer);
      return Response.json({ error: answer[1] }, { status: answer[0] });
    },
  });
  const pages: unknown[] = [];
  try {
    for await (const { body, isRestart } of client.pages('/v1/owners/{address}/miners', {
      address: '0x1',
      limit: 7,
    }))
      pages.push([body, isRestart]);
    return { pages, asked, code: null };
  } catch (error) {
    return { pages, asked, code: (error as { code?: string }).code };
  }
}

const [begin, next] = ['?limit=7', '?limit=7&cursor=second'];

it.each([
  ['has one page', [last], [[last, false]], [begin], null],
  [
    'has two pages',
    [first, last],
    [
      [first, false],
      [last, false],
    ],
    [begin, next],
    null,
  ],
  ['is unavailable', [gone], [[gone, false]], [begin], null],
  ...[invalidated, [400, 'invalid_cursor'] as const, gone].map(
    (refusal) =>
      [
        'has lost its state',
        [first, refusal, first, last],
        [
          [first, false],
          [first, true],
          [last, false],
        ],
        [begin, next, begin, next],
        null,
      ] as const,
  ),
  [
    'fails at its second page',
    [first, [400, 'invalid_query']],
    [[first, false]],
    [begin, next],
    'invalid_query',
  ],
  ['is refused at its first page', [invalidated], [], [begin], 'cursor_invalidated'],
  [
    'loses its state again and again, which is over after five restarts',
    Array(6).fill([first, invalidated]).flat(),
    [[first, false], ...Array(5).fill([first, true])],
    Array(6).fill([begin, next]).flat(),
    'cursor_invalidated',
  ],
] as const)('a list that %s', async (_, answers, pages, asked, code) => {
  expect(await readAll(answers)).toEqual({ pages, asked, code });
});
