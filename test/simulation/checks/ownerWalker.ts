import type { Address } from '../../../actors/schemas/hex.ts';
import { listDifferences } from '../../support/reference/listDifferences.ts';
import type { EthereumChain } from '../chain/ethereumNode.ts';
import type { SealedBlock } from '../chain/sealBlock.ts';
import type { SimulatedResponse } from '../world/currentWorld.ts';
import { SimulationFailure } from './failure.ts';
import { listPlainActivity, listPlainPositions } from './plainOwners.ts';

interface Page {
  readonly status: string;
  readonly chain: { readonly safeBlockHash: SealedBlock['hash'] };
  readonly positions?: readonly object[];
  readonly activity?: readonly object[];
  readonly nextCursor: string | null;
}

export type OwnerList = 'miners' | 'activity';

const confirmations = 12n;

/**
 * A client that reads an owner's lists page by page, from any process, again and again. Pages are of a confirmed block, and a complete list must equal the
 * contracts' state at the block of its first page.
 */
export function createOwnerWalker(chain: EthereumChain, owner: Address, list: OwnerList, limit = 4) {
  let found: object[] = [];
  let cursor: string | null = null;
  let block: SealedBlock | null = null;

  function restart() {
    found = [];
    cursor = null;
    block = null;
  }

  function fail(detail: string): never {
    throw new SimulationFailure('owner pages', `a client that walked ${list} of ${owner}: ${detail}`);
  }

  function note({ chain: { safeBlockHash }, positions, activity, nextCursor }: Page) {
    const shown = chain.find(safeBlockHash);
    if (shown === null || chain.confirmationsOf(safeBlockHash) < confirmations)
      fail(`the block ${safeBlockHash} never had ${confirmations} confirmations`);
    if (block !== null && shown !== block)
      fail(`a page is of block ${safeBlockHash}, the first one of ${block.hash}`);
    block = shown;
    found.push(...(positions ?? activity ?? []));
    cursor = nextCursor;
    if (cursor !== null) return;
    const expected =
      list === 'miners' ? listPlainPositions(shown, owner) : listPlainActivity(chain, owner, shown);
    const [difference] = listDifferences(found, expected);
    if (difference !== undefined) fail(`at block ${shown.number}, ${JSON.stringify(difference)}`);
    restart();
  }

  return {
    step: async (get: (path: string) => Promise<SimulatedResponse | null>): Promise<void> => {
      const query = cursor === null ? '' : `&cursor=${cursor}`;
      const response = await get(`/v1/owners/${owner}/${list}?limit=${limit}${query}`);
      // The block's state is gone, after a reorganization or many blocks.
      if (response?.status === 409) restart();
      if (response?.status !== 200) return;
      const page = JSON.parse(response.body.toString('utf8')) as Page;
      if (page.status === 'available') note(page);
    },
  };
}
