import type { Logger } from 'pino';
import type { ChainDeployment } from '../../actors/views/chain/chainDeployment.ts';
import type { StreamPort } from '../nats/streamPort.ts';
import { createChainReader } from './chainReader.ts';
import { createIndexer, type Indexer } from './indexer.ts';
import { splitNodeUrls } from './nodeTransport.ts';
import { createSpanPublisher } from './spanPublisher.ts';

interface IndexingOptions {
  readonly jetStream: StreamPort;
  readonly onChain: ChainDeployment;
  /** One address, or two separated by a comma. */
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
  const [url, witnessUrl] = splitNodeUrls(rpcUrl);
  const reader = createChainReader({ url, addresses: Object.values(onChain.contracts) });
  const witness = witnessUrl === null ? null : createChainReader({ url: witnessUrl, addresses: [] });
  const publisher = createSpanPublisher({ ...options, chainId, core });
  return createIndexer({ ...options, reader, witness, publisher, chainId, deploymentBlock, timelock });
}
