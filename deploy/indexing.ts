import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { ChainDeployment } from '../actors/chain/chainViews.ts';
import { type ChainProofs, createChainReader } from '../streams/chainReader.ts';
import { createIndexer, type Indexer } from '../streams/indexer.ts';
import { createSpanPublisher } from '../streams/spanPublisher.ts';
import { registerIndexerMetrics } from './chainMetrics.ts';
import { createProgress, type Progress } from './progress.ts';

export interface IndexingParts {
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  readonly onChain: ChainDeployment;
  readonly rpcUrl: string;
  readonly proofs: ChainProofs;
  /** First block that is published once more; null for none. */
  readonly repairFrom?: bigint | null;
  readonly registry: Registry;
  readonly logger: Logger;
  /** Shows how a long catching-up goes. */
  readonly progressStream: NodeJS.WriteStream;
}

/** The indexer of a deployment, with its metrics and its progress. */
export function createDeploymentIndexer(parts: IndexingParts): Indexer {
  const { js, jsm, onChain, rpcUrl, proofs, repairFrom = null, registry, logger, progressStream } = parts;
  const { core } = onChain.contracts;
  const { chainId, deploymentBlock } = onChain.chain;
  const indexer = createIndexer({
    reader: createChainReader({ url: rpcUrl, addresses: Object.values(onChain.contracts), proofs }),
    publisher: createSpanPublisher({ js, jsm, chainId, core }),
    chainId,
    deploymentBlock,
    repairFrom,
    timelock: onChain.contracts.operatorTimelock,
    logger,
    onProgress: shownProgress(progressStream),
  });
  registerIndexerMetrics(registry, indexer);
  return indexer;
}

/** A bar for each time that the indexer was far behind, from where it was then. */
function shownProgress(stream: NodeJS.WriteStream): (head: bigint, tip: bigint) => void {
  let shown: { progress: Progress; from: bigint; tip: bigint } | null = null;
  return (head, tip) => {
    shown ??= {
      progress: createProgress({
        label: 'indexing',
        unit: 'blocks',
        total: Number(tip - head),
        stream,
        nowMs: Date.now,
      }),
      from: head,
      tip,
    };
    shown.progress.update(Number(head - shown.from));
    if (head < shown.tip) return;
    shown.progress.stop();
    shown = null;
  };
}
