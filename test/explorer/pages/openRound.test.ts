import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { expect, it } from 'vitest';
import { type Page, PageContext } from '../../../http/explorer/components/pageContext.ts';
import type { Bodies } from '../../../http/explorer/page.ts';
import { OpenRound } from '../../../http/explorer/views/glance/OpenRound.tsx';
import recorded from '../../../http/routes/documentation/examples.json' with { type: 'json' };

const { Status, CoreState } = recorded.bodies;
const genesisMs = Date.UTC(2026, 10, 24, 12);
const { configuration } = CoreState.answer;
const core = {
  ...CoreState.answer,
  configuration: { ...configuration, genesisTimestamp: String(genesisMs / 1000) },
};
const unavailable = (reason: string) => ({ status: 'unavailable', reason });

function render(shown: object | null, nowMs: number): string {
  const page = { nowMs, expireAt: () => undefined, read: () => shown } as unknown as Page;
  const view = { status: Status.answer as Bodies['status'] };
  const html = renderToString(h(PageContext.Provider, { value: page }, h(OpenRound, view)));
  return html
    .replace(/<dialog.*?<\/dialog>/gs, '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

it.each<[string, object | null, number, string]>([
  ['the first at the genesis', core, 0, 'Open round 1 10 min 00 s until 12:10:00 UTC Work so far'],
  ['the second', core, 601_000, 'Open round 2 9 min 59 s until 12:20:00 UTC Work so far'],
  [
    'one of an unknown number while the chain cannot be read',
    unavailable('indexer_unavailable'),
    0,
    'Open round unknown 10 min 00 s until 12:10:00 UTC',
  ],
  [
    'one of an unknown number while nothing is read',
    null,
    0,
    'Open round unknown 10 min 00 s until 12:10:00 UTC',
  ],
])('the open round is %s', (_, shown, afterGenesisMs, text) => {
  expect(render(shown, genesisMs + afterGenesisMs)).toContain(text);
});

it.each<[string, object, string]>([
  ['before the genesis', core, 'Open round No round is open yet. The first one begins 24 Nov 12:00 UTC .'],
  [
    'without contracts',
    unavailable('indexer_disabled'),
    'Open round No round is open. This service is not connected to a chain.',
  ],
])('%s no round is open', (_, shown, text) => {
  expect(render(shown, genesisMs - 1)).toBe(text);
});
