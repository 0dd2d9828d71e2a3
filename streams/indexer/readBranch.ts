import { type BlockHeader, expectParent } from './blockProof.ts';
import type { ChainReader } from './chainReader.ts';
import { ProviderInconsistent } from './providerInconsistent.ts';
import type { PublishedBlock } from './spanPublisher.ts';

/**
 * The newest published block that is on the node's chain.
 *
 * @throws ProviderInconsistent when none is.
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
 * Headers above the common block through the newest, each naming the one before it as its parent.
 *
 * @throws ProviderInconsistent when they do not.
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
