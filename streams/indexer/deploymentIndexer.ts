import type { Logger } from 'pino';
import type { ChainDeployment } from '../../actors/views/chain/chainDeployment.ts';
import type { StreamPort } from '../nats/streamPort.ts';
import { createChainReader } from './chainReader.ts';
import { createIndexer, type Indexer } from './indexer.ts';
import { createSpanPublisher } from './spanPublisher.ts';

interface IndexingOptions {
  readonly jetStream: StreamPort;
  readonly onChain: ChainDeployment;
  readonly rpcUrl: string;
  /** First block to publish again; null to publish only new blocks. */
  readonly repairFrom?: bigint | null;
  readonly logger: Logger;
  /** Called while it is far behind, with the last published block and the node's newest one. */
  readonly onProgress: (head: bigint, tip: bigint) => void;
}

export function createDeploymentIndexer(options: IndexingOptions): Indexer {
  const { onChain, rpcUrl } = options;
  const { core, operatorTimelock: timelock } = onChain.contracts;
  const { chainId, deploymentBlock } = onChain.chain;
  const reader = createChainReader({ url: rpcUrl, addresses: Object.values(onChain.contracts) });
  const publisher = createSpanPublisher({ ...options, chainId, core });
  return createIndexer({ ...options, reader, publisher, chainId, deploymentBlock, timelock });
}
