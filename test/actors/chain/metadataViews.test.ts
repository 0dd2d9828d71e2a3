import { describe, expect, it } from 'vitest';
import {
  buildEconomyEvents,
  buildState,
  createStateViews,
  metadataEvent,
  plainMetadata,
  type StateEvent,
  stateOwner,
} from '../../support/chain/economyState.ts';

/** Status of token 1's metadata in a portfolio and on the metadata route. */
function readStatuses(published: readonly StateEvent[]) {
  const { views } = createStateViews(buildState([...buildEconomyEvents(), ...published]));
  const portfolio = views.portfolio({ owner: stateOwner, limit: 25, cursor: null });
  if (!('positions' in portfolio)) throw new Error('the portfolio is unavailable');
  return [portfolio.positions[0]?.metadataStatus, views.metadata(1).status];
}

const buildMetadata = (change: object) => [metadataEvent(1n, { ...plainMetadata, ...change })];
const inBase64 = (json: string) => Buffer.from(json).toString('base64');

describe('whether a position has metadata', () => {
  it.each<[string, readonly StateEvent[]]>([
    ['after the mint', []],
    ['with a card', buildMetadata({ card_image: 'https://cards.example/1' })],
    [
      'with an image of the largest size',
      buildMetadata({ image: `data:image/svg+xml;base64,${'A'.repeat(239_974)}` }),
    ],
  ])('%s, both routes say available', (_what, published) => {
    expect(readStatuses(published)).toEqual(['available', 'available']);
  });

  it.each<[string, readonly StateEvent[]]>([
    ['of an earlier epoch', [{ contract: 'collection', name: 'MetadataEpochAdvanced', args: { epoch: 2n } }]],
    ['with another kind of URI', [metadataEvent(1n, 'ipfs://Qm')]],
    ['that is not JSON', [metadataEvent(1n, `data:application/json;base64,${inBase64('{')}`)]],
    ['that is null', [metadataEvent(1n, `data:application/json;base64,${inBase64('null')}`)]],
    ['with a numeric attribute', buildMetadata({ attributes: [{ trait_type: 'Level', value: 1 }] })],
    ['with 33 attributes', buildMetadata({ attributes: Array(33).fill({ trait_type: 'a', value: 'b' }) })],
    ['without a name', buildMetadata({ name: '' })],
    ['with a name of 129 characters', buildMetadata({ name: 'n'.repeat(129) })],
    ['with an image that is not SVG', buildMetadata({ image: 'data:image/png;base64,AAAA' })],
    ['with a card that is not a URL', buildMetadata({ card_image: 'https:cards.example/1' })],
    ['with a card over plain HTTP', buildMetadata({ card_image: 'http://cards.example/1' })],
  ])('%s, both routes say unavailable', (_what, published) => {
    expect(readStatuses(published)).toEqual(['unavailable', 'unavailable']);
  });
});
