import { formatAuthority } from '../../http/server/engine/listener.ts';
import { createOperatorServer } from '../../http/server/operatorServer.ts';
import { describeIndexer } from '../../streams/health/indexerReadiness.ts';
import { createDeploymentIndexer } from '../../streams/indexer/deploymentIndexer.ts';
import { type Indexer, type IndexerStatus, notStarted } from '../../streams/indexer/indexer.ts';
import { verifyStreams } from '../../streams/jetstream/settings/ensureStreams.ts';
import { registerIndexerMetrics } from '../../streams/metrics/chainMetrics.ts';
import { connectNats, logFailedAttempt } from '../../streams/nats/connection.ts';
import { createActorTransitions } from '../../streams/operators/actorTransitions.ts';
import { retryUntilAvailable } from '../../streams/operators/retryUntilAvailable.ts';
import { runMember } from '../../streams/operators/runMember.ts';
import { ConfigurationError } from '../configuration/configuration.ts';
import { readDeploymentFile } from '../configuration/deploymentFile.ts';
import { locateNats } from '../configuration/natsConfiguration.ts';
import { requireFreePorts } from '../process/freePorts.ts';
import { showIndexingProgress } from '../process/indexingProgress.ts';
import { createProcessRegistry } from '../process/processMetrics.ts';
import { within } from '../process/within.ts';
import { runUntilStopped } from './runService.ts';

const closeGraceMs = 1_000;
const notConnected: IndexerStatus = { ...notStarted, waitingFor: 'NATS', problem: 'not connected yet' };

export interface IndexerOptions {
  readonly fromBlock?: bigint;
}

/** The command line's `index`: reads the chain and publishes it. Any number may run; one publishes at a time. */
export function runIndexer({ fromBlock: repairFrom }: IndexerOptions = {}): Promise<void> {
  return runUntilStopped(async ({ configuration, logger, onStop }) => {
    const { MINER_DEPLOYMENT: path, MINER_RPC_URL: rpcUrl } = configuration;
    const nats = locateNats(configuration);
    const unset = Object.entries({ MINER_DEPLOYMENT: path, MINER_RPC_URL: rpcUrl, MINER_NATS_URL: nats })
      .filter(([, value]) => value === null)
      .map(([name]) => `${name} is not set; \`index\` reads a deployment's chain and publishes it to NATS`);
    if (path === null || rpcUrl === null || nats === null) throw new ConfigurationError(unset);
    const { onChain } = readDeploymentFile(path);
    if (onChain === null) {
      throw new ConfigurationError([
        `MINER_DEPLOYMENT is ${path}, which names no contracts; there is nothing to index`,
      ]);
    }
    await requireFreePorts(configuration, { serve: false });
    const stopping = new AbortController();
    const registry = createProcessRegistry();
    // Null until NATS is connected; the operators' port does not wait for it.
    let indexer: Indexer | null = null;
    const status = () => indexer?.status() ?? notConnected;
    registerIndexerMetrics(registry, { status });
    const readiness = () => describeIndexer(status());
    const { MINER_OPS_HOST: host, MINER_OPS_NAMES: names } = configuration;
    const server = createOperatorServer({ registry, readiness, logger, names });
    const port = await server.listen(host, configuration.MINER_OPS_PORT);
    onStop("the operators' port", async () => {
      stopping.abort();
      server.close();
    });
    logger.info(
      { operatorUrl: `http://${formatAuthority(host, port)}`, chainId: String(onChain.chain.chainId) },
      'listening',
    );
    const jetStream = await connectNats({
      ...nats,
      name: 'miner index',
      logger,
      signal: stopping.signal,
    });
    const verify = () => verifyStreams(jetStream, ['MINER_CHAIN'], logger);
    const missing = await retryUntilAvailable(verify, {
      signal: stopping.signal,
      onFirstFailure: (error) => logFailedAttempt(logger, error),
    });
    // Only an ingesting process creates streams and changes their settings, since it knows their retention.
    if (missing.length > 0)
      logger.warn(
        'there is no stream MINER_CHAIN yet; publishing begins once an ingest process has created it',
      );
    indexer = createDeploymentIndexer({
      jetStream,
      onChain,
      rpcUrl,
      repairFrom: repairFrom ?? null,
      logger,
      onProgress: showIndexingProgress(),
    });
    const running = runMember(indexer.member, {
      inspect: createActorTransitions({ logger, registry }),
    });
    onStop('the indexer', async () => {
      await running.stop({ graceMs: closeGraceMs });
      await within(closeGraceMs, jetStream.close());
    });
    // Deliberately unhandled: it ends the process like any other failure, with everything stopped in order.
    running.ended.catch((error: unknown) => {
      throw error;
    });
  });
}
