import { Linked } from '../../components/Linked.tsx';
import { Table } from '../../components/Table.tsx';
import { Time } from '../../components/Time.tsx';
import { TransactionLink } from '../../components/TransactionLink.tsx';
import { nameRounds } from '../../format/events.ts';
import { formatInteger, formatShort } from '../../format/numbers.ts';
import { say, toBlock } from '../../format/sentence.ts';
import type { Bodies } from '../../page.ts';

export type History = Extract<Bodies['settlements'], { status: 'available' }>;
type Mining = Extract<History['mining'], { status: 'available' }>;

/** Columns that all tables of transactions have. */
const time = {
  name: 'Time',
  cell: ({ blockTimestamp }: { readonly blockTimestamp: string }) => <Time at={blockTimestamp} as="minute" />,
};
const transaction = {
  name: 'Transaction',
  cell: ({ transactionHash }: { readonly transactionHash: string }) => (
    <TransactionLink hash={transactionHash} />
  ),
};

/** The newest batches of the range that completed a block. */
export function Batches({ history }: { history: History }) {
  const { recentSettlements, mining } = history;
  const asset = mining.status === 'available' ? mining.economy : null;
  return (
    <section aria-labelledby="batches">
      <h2 id="batches">Newest batches that completed work blocks</h2>
      {recentSettlements.length === 0 ? (
        <p class="empty">No batch of this range has completed a work block.</p>
      ) : (
        <Table
          label="newest batches"
          rows={recentSettlements}
          columns={[
            time,
            {
              name: 'Rounds',
              isNumber: true,
              cell: (one) => (
                <Linked of={nameRounds(one.previousSettledThroughRound, one.settledThroughRound)} />
              ),
            },
            { name: 'Work', isNumber: true, cell: ({ workAdded }) => formatInteger(workAdded) },
            {
              name: 'Work blocks',
              isNumber: true,
              cell: ({ completedBlockCount, firstCompletedBlock: first, lastCompletedBlock: last }) => (
                <Linked
                  of={
                    completedBlockCount === '1' ? [toBlock(last)] : say`${toBlock(first)} to ${toBlock(last)}`
                  }
                />
              ),
            },
            {
              name: 'Minted',
              isNumber: true,
              cell: ({ sqkMintedBaseUnits }) =>
                sqkMintedBaseUnits === undefined || asset === null
                  ? 'not yet'
                  : `${formatShort(sqkMintedBaseUnits, asset.decimals, 2)} ${asset.symbol}`,
            },
            transaction,
          ]}
        />
      )}
    </section>
  );
}

/** The newest checkpoints of the range. */
export function Checkpoints({ mining }: { mining: Mining }) {
  const { recentCheckpoints, economy } = mining;
  return (
    <section aria-labelledby="checkpoints">
      <h2 id="checkpoints">Newest mints</h2>
      {recentCheckpoints.length === 0 ? (
        <p class="empty">Nothing was minted in this range.</p>
      ) : (
        <Table
          label="newest mints"
          rows={recentCheckpoints}
          columns={[
            time,
            {
              name: 'Rounds',
              isNumber: true,
              cell: ({ afterRound, throughRound }) => <Linked of={nameRounds(afterRound, throughRound)} />,
            },
            {
              name: 'Work blocks',
              isNumber: true,
              cell: ({ completedBlockCount }) => formatInteger(completedBlockCount),
            },
            { name: 'Weight', isNumber: true, cell: ({ eligibleWeight }) => formatInteger(eligibleWeight) },
            {
              name: economy.symbol,
              isNumber: true,
              cell: ({ amountBaseUnits }) => formatShort(amountBaseUnits, economy.decimals, 2),
            },
            transaction,
          ]}
        />
      )}
    </section>
  );
}
