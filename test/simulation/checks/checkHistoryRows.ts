import { listEvents } from '../../reference/safeChain.ts';
import type { SimulatedWorld } from '../world/createWorld.ts';
import type { Reference } from './compareWithReference.ts';
import { selectCounted } from './countedRows.ts';
import { findDifference, SimulationFailure } from './failure.ts';

/** Tables that no route reads, with the event behind each row and its members. */
const tables = [
  {
    name: 'stored_settlements',
    contract: 'core',
    event: 'BatchSettled',
    number: 'settlement_number',
    columns: { settled_through_round: 'settledThroughRound', work_added: 'workAdded' },
  },
  {
    name: 'stored_checkpoints',
    contract: 'mining',
    event: 'Checkpointed',
    number: 'checkpoint_number',
    columns: { through_round: 'throughRound', amount_base_units: 'amount' },
  },
] as const;

/** A block with this many safe blocks above it is final (`smallLimits.mjs`). */
const retainedBlocks = 40;

/** Checks that the chain's history rows agree with the stream, and that everything final is a row. */
export function checkHistoryRows(world: SimulatedWorld, { chain }: Reference): void {
  if (chain === null || chain.safe === null) return;
  const { indexed, safe } = chain;
  const safeBlocks = indexed.blocks.filter(({ number }) => number <= safe.block.number);
  const finalThrough = safeBlocks.at(-retainedBlocks - 1)?.number ?? 0n;
  for (const { name, contract, event, number, columns } of tables) {
    const members = Object.entries(columns);
    const found = selectCounted(world.clickHouse, 'MINER_CHAIN', {
      columns: [number, 'block_hash', 'log_index', ...Object.keys(columns)].join(', '),
      table: name,
      order: number,
    });
    const events = listEvents<Readonly<Record<string, unknown>>>(safe, contract, event);
    const finalCount = events.filter(({ place }) => place.blockNumber <= finalThrough).length;
    const expected = events
      .map(({ args, place: { blockHash, logIndex } }, index) =>
        [index, blockHash, logIndex, ...members.map(([, member]) => args[member as string])].map(String),
      )
      .slice(0, Math.max(found.length, finalCount));
    const difference = findDifference(expected, found);
    if (difference !== null) throw new SimulationFailure('history rows', `${name}, ${difference}`);
  }
}
