import { createClient, rpcSchema, type Transport } from 'viem';

type Methods = [
  { Method: 'eth_chainId'; Parameters?: undefined; ReturnType: unknown },
  { Method: 'eth_getBlockByNumber'; Parameters: [block: string, isWhole: boolean]; ReturnType: unknown },
  { Method: 'eth_getBlockReceipts'; Parameters: [block: string]; ReturnType: unknown },
  { Method: 'eth_getTransactionReceipt'; Parameters: [hash: string]; ReturnType: unknown },
  { Method: 'eth_getLogs'; Parameters: [filter: object]; ReturnType: unknown },
];

export type NodeClient = ReturnType<typeof createNodeClient>;

/** Answers are `unknown` until they are proven. */
export function createNodeClient(transport: Transport) {
  return createClient({ transport, rpcSchema: rpcSchema<Methods>() });
}

/** A number as Ethereum nodes take it. */
export function toQuantity(number: bigint): string {
  return `0x${number.toString(16)}`;
}
