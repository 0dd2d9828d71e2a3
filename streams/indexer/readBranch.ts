import { type BlockHeader, expectParent } from './blockProof.ts';
import type { ChainReader } from './chainReader.ts';
import { ProviderInconsistent } from './providerInconsistent.ts';
import type { PublishedBlock } from './spanPublisher.ts';

/**
 * Finds the newest published block on the node's chain.
 *
 * @throws ProviderInconsistent when no published block is on it.
 */
export async function findCommonBlock(
  reader: Pick<ChainReader, 'header'>,
  published: readonly PublishedBlock[],
): Promise<PublishedBlock> {
  for (const known of published.toReversed())
    if ((await reader.header(known.number)).hash === known.hash) return known;
  throw new ProviderInconsistent(
    `none of the last ${published.length} published blocks is on the node's chain: is it the same chain?`,
  );
}

/**
 * Reads the headers after the common block through the newest.
 *
 * @throws ProviderInconsistent when a header does not name its predecessor as its parent.
 */
export async function readBranch(
  reader: Pick<ChainReader, 'header'>,
  common: PublishedBlock,
  newest: BlockHeader,
): Promise<BlockHeader[]> {
  const headers: BlockHeader[] = [];
  let parent: PublishedBlock = common;
  for (let number = common.number + 1n; number <= newest.number; number++) {
    const header = await reader.header(number);
    expectParent(header, parent);
    headers.push(header);
    parent = header;
  }
  if (parent.hash !== newest.hash)
    throw new ProviderInconsistent('the newest block was replaced while its branch was read');
  return headers;
}
