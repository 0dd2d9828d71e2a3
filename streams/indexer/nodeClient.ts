import { createClient, rpcSchema, type Transport } from 'viem';
import { createNodeTransport } from './nodeTransport.ts';

type Methods = [
  { Method: 'eth_chainId'; Parameters?: undefined; ReturnType: unknown },
  { Method: 'eth_getBlockByNumber'; Parameters: [block: string, isWhole: boolean]; ReturnType: unknown },
  { Method: 'eth_getBlockReceipts'; Parameters: [block: string]; ReturnType: unknown },
  { Method: 'eth_getTransactionReceipt'; Parameters: [hash: string]; ReturnType: unknown },
  { Method: 'eth_getLogs'; Parameters: [filter: object]; ReturnType: unknown },
];

export type NodeClient = ReturnType<typeof createNodeClient>;

export type NodeClients = ReturnType<typeof createNodeClients>;

interface NodeClientsOptions {
  readonly url: string;
  /** A request that takes longer than this has failed. */
  readonly requestMs: number;
  readonly batchSize: number;
}

/** `batchingClient` sends simultaneous requests as one batch. */
export function createNodeClients({ url, requestMs, batchSize }: NodeClientsOptions) {
  return {
    client: createNodeClient(createNodeTransport({ url, requestMs })),
    batchingClient: createNodeClient(createNodeTransport({ url, requestMs, batchSize })),
  };
}

/** Answers are `unknown` until they are proven. */
function createNodeClient(transport: Transport) {
  return createClient({ transport, rpcSchema: rpcSchema<Methods>() });
}

/** A number as Ethereum nodes take it. */
export function toQuantity(number: bigint): string {
  return `0x${number.toString(16)}`;
}

/** Whether the node answered, but refused this request. Silence and too many requests say nothing about the request itself. */
export function isRefusal(error: unknown): boolean {
  const { code, status } = error as { readonly code?: unknown; readonly status?: unknown };
  return (typeof code === 'number' || typeof status === 'number') && code !== 429 && status !== 429;
}
