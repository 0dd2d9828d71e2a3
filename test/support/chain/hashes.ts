import type { EventSource } from '../../../actors/events/eventSchemas.ts';
import {
  type BlockHash,
  type TransactionHash,
  toBlockHash,
  toTransactionHash,
} from '../../../actors/schemas/hex.ts';

/** The hash of a block that is on no chain, with these digits at its end. */
export function buildBlockHash(digits: number | bigint | string): BlockHash {
  return toBlockHash(`0x${digits.toString(16).padStart(64, '0')}`);
}

/** The hash of a transaction on no chain, with these digits at its end. */
export function buildTransactionHash(digits: number | bigint | string): TransactionHash {
  return toTransactionHash(`0x${digits.toString(16).padStart(64, '0')}`);
}

/** A place on no chain. */
export function buildSource(given: Partial<EventSource> = {}): EventSource {
  return {
    ...{ blockNumber: 1n, blockHash: buildBlockHash(1), blockTimestampMs: 0 },
    ...{ transactionHash: buildTransactionHash(1), transactionIndex: 0, logIndex: 0 },
    ...given,
  };
}
