import type { JetStreamManager } from '@nats-io/jetstream';
import { createPublicClient, http } from 'viem';
import { chainSpanMessage } from '../../../actors/chain/spans/chainSpan.ts';
import { spanSubject } from '../../../actors/messages/subjects.ts';
import { readErrorMessage } from '../../../actors/readErrorMessage.ts';
import type { ChainDeployment } from '../../../actors/views/chain/chainDeployment.ts';
import { type Finding, failed, ok, skipped } from '../../diagnosis/finding.ts';

const requestMs = 5_000;

/** Checks the node's chain, the deployment on it, and how far the stream lags behind it. */
export async function checkChain(
  jsm: JetStreamManager,
  onChain: ChainDeployment,
  rpcUrl: string,
): Promise<Finding[]> {
  const client = createPublicClient({ transport: http(rpcUrl, { timeout: requestMs, retryCount: 0 }) });
  const { chainId } = onChain.chain;
  let nodeChainId: bigint;
  try {
    nodeChainId = BigInt(await client.getChainId());
  } catch (error) {
    return [
      failed(
        'node',
        readErrorMessage(error).split('\n', 1)[0] ?? '',
        'check MINER_RPC_URL and that the node runs',
      ),
    ];
  }
  if (nodeChainId !== chainId) {
    const detail = `it is of chain ${nodeChainId}, the deployment is on chain ${chainId}`;
    return [
      failed('node', detail, 'set MINER_RPC_URL to a node of that chain, or correct the deployment file'),
    ];
  }
  const tip = await client.getBlockNumber();
  const findings = [ok('node', `chain ${nodeChainId}, newest block ${tip}`)];
  const code = await client.getCode({ address: onChain.contracts.core });
  findings.push(
    code === undefined
      ? failed(
          'deployment',
          `there is no contract at ${onChain.contracts.core}`,
          'correct `contracts` in the deployment file',
        )
      : ok('deployment', `the core is at ${onChain.contracts.core}`),
  );
  const last = await jsm.streams.getMessage('MINER_CHAIN', { last_by_subj: spanSubject(chainId) });
  const span = last === null ? null : chainSpanMessage.safeParse(last.json());
  if (span === null) return [...findings, skipped('blocks', 'none is published yet')];
  if (!span.success) {
    return [
      ...findings,
      failed('blocks', 'the newest span is malformed', 'find out who else publishes to MINER_CHAIN'),
    ];
  }
  const head = BigInt(span.data.toBlock);
  if (head > tip) {
    const detail = `the stream holds block ${head}, the node is at ${tip}`;
    return [
      ...findings,
      failed('blocks', detail, 'the node lags or was reset; wait, or set MINER_RPC_URL to another one'),
    ];
  }
  const { hash } = await client.getBlock({ blockNumber: head });
  if (hash !== span.data.hash) {
    const detail = `block ${head} is ${span.data.hash} in the stream and ${hash} on the chain`;
    return [
      ...findings,
      failed('blocks', detail, 'a reorganization that is not indexed yet: start the service or `index`'),
    ];
  }
  return [...findings, ok('blocks', `published through ${head}, ${tip - head} behind the node`)];
}
