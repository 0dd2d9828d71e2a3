import type { Logger } from 'pino';
import type { ChainDeployment } from '../actors/views/chain/chainDeployment.ts';
import type { ChainProofs } from './indexer/chainProofs.ts';
import { createChainReader } from './indexer/chainReader.ts';
import { createIndexer, type Indexer } from './indexer/indexer.ts';
import { createSpanPublisher } from './indexer/spanPublisher.ts';
import type { JetStream } from './jetstream/natsLink.ts';

interface IndexingOptions extends JetStream {
  readonly onChain: ChainDeployment;
  readonly rpcUrl: string;
  readonly proofs: ChainProofs;
  /** First block to publish again; null to publish only new blocks. */
  readonly repairFrom?: bigint | null;
  readonly logger: Logger;
  /** Called while it is far behind, with the last published block and the node's newest one. */
  readonly onProgress: (head: bigint, tip: bigint) => void;
}

export function createDeploymentIndexer(options: IndexingOptions): Indexer {
  const { onChain, rpcUrl, proofs } = options;
  const { core, operatorTimelock: timelock } = onChain.contracts;
  const { chainId, deploymentBlock } = onChain.chain;
  const reader = createChainReader({ url: rpcUrl, addresses: Object.values(onChain.contracts), proofs });
  const publisher = createSpanPublisher({ ...options, chainId, core });
  return createIndexer({ ...options, reader, publisher, chainId, deploymentBlock, timelock });
}
