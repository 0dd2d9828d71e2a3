import { expect, it } from 'vitest';
import { createClient } from '../../http/client/index.ts';

const page = (of: string, nextCursor: string | null) => ({ status: 'available', of, nextCursor });
const gone = { status: 'unavailable', reason: 'indexer_unavailable' };
const first = page('first', 'second');
const last = page('last', null);
/** A status with the code of its error. */
type Refusal = readonly [status: number, code: string];
const invalidated: Refusal = [409, 'cursor_invalidated'];
const badCursor: Refusal = [400, 'invalid_cursor'];

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
  const pages: string[] = [];
  const result = (code: string | null) => ({ pages: pages.join(', '), asked: asked.join(' '), code });
  const list = client.pages('/v1/owners/{address}/miners', { address: '0x1', limit: 7 });
  try {
    for await (const { body, isRestart } of list) {
      const { of, status } = body as { readonly of?: string; readonly status: string };
      pages.push(`${of ?? status}${isRestart ? ' again' : ''}`);
    }
    return result(null);
  } catch (error) {
    return result((error as { code: string }).code);
  }
}

const begin = '?limit=7';
const both = `${begin} ?limit=7&cursor=second`;
const six = <Value>(value: Value): Value[] => Array(6).fill(value);

it.each<[string, readonly (object | Refusal)[], string, string, string | null]>([
  ['has one page', [last], 'last', begin, null],
  ['has two pages', [first, last], 'first, last', both, null],
  ['is unavailable', [gone], 'unavailable', begin, null],
  [
    'has lost its state',
    [first, invalidated, first, last],
    'first, first again, last',
    `${both} ${both}`,
    null,
  ],
  [
    'has no such cursor',
    [first, badCursor, first, last],
    'first, first again, last',
    `${both} ${both}`,
    null,
  ],
  ['is gone meanwhile', [first, gone, first, last], 'first, first again, last', `${both} ${both}`, null],
  ['fails at its second page', [first, [400, 'invalid_query']], 'first', both, 'invalid_query'],
  ['is refused at its first page', [invalidated], '', begin, 'cursor_invalidated'],
  [
    'loses its state again and again, which is over after five restarts',
    six([first, invalidated]).flat(),
    ['first', ...six('first again').slice(1)].join(', '),
    six(both).join(' '),
    'cursor_invalidated',
  ],
])('a list that %s', async (_, answers, pages, asked, code) => {
  expect(await readAll(answers)).toEqual({ pages, asked, code });
});
