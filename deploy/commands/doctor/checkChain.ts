import type { JetStreamManager } from '@nats-io/jetstream';
import { createPublicClient, type PublicClient } from 'viem';
import { chainSpanMessage } from '../../../actors/chain/spans/chainSpan.ts';
import { spanSubject } from '../../../actors/messages/subjects.ts';
import { readErrorMessage } from '../../../actors/readErrorMessage.ts';
import type { ChainDeployment } from '../../../actors/views/chain/chainDeployment.ts';
import { createNodeTransport } from '../../../streams/indexer/nodeTransport.ts';
import { type Finding, failed, ok, skipped } from '../../diagnosis/finding.ts';

const requestMs = 5_000;

/** Checks the node's chain, the deployment on it, and how far the stream lags behind it. */
export async function checkChain(
  jsm: JetStreamManager,
  onChain: ChainDeployment,
  rpcUrl: string,
): Promise<Finding[]> {
  const client = createPublicClient({ transport: createNodeTransport({ url: rpcUrl, requestMs }) });
  const { chainId } = onChain.chain;
  let nodeChainId: bigint;
  try {
    nodeChainId = BigInt(await client.getChainId());
  } catch (error) {
    const [problem = ''] = readErrorMessage(error).split('\n', 1);
    return [failed('node', problem, 'check MINER_RPC_URL and that the node runs')];
  }
  if (nodeChainId !== chainId) {
    const detail = `it serves chain ${nodeChainId}, but the deployment is on chain ${chainId}`;
    const remedy = 'set MINER_RPC_URL to a node of that chain, or correct the deployment file';
    return [failed('node', detail, remedy)];
  }
  const tip = await client.getBlockNumber();
  const { core } = onChain.contracts;
  const code = await client.getCode({ address: core });
  return [
    ok('node', `chain ${nodeChainId}, newest block ${tip}`),
    code === undefined
      ? failed('deployment', `there is no contract at ${core}`, 'correct `contracts` in the deployment file')
      : ok('deployment', `the core is at ${core}`),
    await checkBlocks(client, jsm, { chainId, tip }),
  ];
}

/** Compares the last published block with the node's block of that number. */
async function checkBlocks(
  client: PublicClient,
  jsm: JetStreamManager,
  { chainId, tip }: { readonly chainId: bigint; readonly tip: bigint },
): Promise<Finding> {
  const last = await jsm.streams.getMessage('MINER_CHAIN', { last_by_subj: spanSubject(chainId) });
  if (last === null) return skipped('blocks', 'none is published yet');
  const span = chainSpanMessage.safeParse(last.json());
  if (!span.success)
    return failed('blocks', 'the newest span is malformed', 'find out who else publishes to MINER_CHAIN');
  const head = BigInt(span.data.toBlock);
  if (head > tip) {
    const detail = `the stream holds block ${head}, the node is at ${tip}`;
    return failed('blocks', detail, 'the node lags or was reset; wait, or set MINER_RPC_URL to another one');
  }
  const { hash } = await client.getBlock({ blockNumber: head });
  if (hash !== span.data.hash) {
    const detail = `block ${head} is ${span.data.hash} in the stream and ${hash} on the chain`;
    return failed('blocks', detail, 'a reorganization that is not indexed yet: start the service or `index`');
  }
  return ok('blocks', `published through ${head}, ${tip - head} behind the node`);
}
