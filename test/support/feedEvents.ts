import type { ChainFeedEvent } from '../../actors/chain/chainState.ts';
import type { MeasurementEvent } from '../../actors/feed/measurementEvents.ts';

/** A measurement's event of its own ID. */
export function measured(number: number, receivedAtMs: number): MeasurementEvent {
  return {
    family: 'measurement',
    achievement: { type: 'measurement.speed_record', previous: null, observed: number },
    installationId: 'wheel-1',
    position: number,
    telemetryId: 'aaaaaaaa-0000-4000-8000-000000000001',
    observedAtMs: receivedAtMs,
    receivedAtMs,
  };
}

/** An event of the chain of its own ID: a mint, or a checkpoint. */
export function chained(number: number, recordedAtMs: number, isMint: boolean): ChainFeedEvent {
  return {
    family: 'chain',
    details: isMint
      ? {
          type: 'player.miner_minted',
          owner: '0x',
          tokenId: 1n,
          weight: 1n,
          nextMergeBlock: 1n,
          firstRound: 1n,
        }
      : {
          type: 'system.mining_checkpointed',
          afterRound: 0n,
          throughRound: 1n,
          completedBlockCount: 1n,
          cumulativeWork: 2n ** 200n,
          amountBaseUnits: 1n,
          cumulativeBlockUnits: 1n,
        },
    address: '0xaa',
    source: {
      blockNumber: BigInt(number),
      blockHash: '0x',
      blockTimestampMs: recordedAtMs,
      transactionHash: `0x${number.toString(16).padStart(64, '0')}`,
      transactionIndex: 0,
      logIndex: number,
    },
    recordedAtMs,
  };
}
