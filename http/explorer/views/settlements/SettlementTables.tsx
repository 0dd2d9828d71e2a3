import { Table } from '../../components/Table.tsx';
import { Time } from '../../components/Time.tsx';
import { formatInteger, formatShort, shortenHash } from '../../format/numbers.ts';
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
    <a href={`/settlements/${transactionHash}`}>
      <code class="hash">{shortenHash(transactionHash)}</code>
    </a>
  ),
};

/** The newest batches of the range that completed a block. */
export function Batches({ history }: { history: History }) {
  const { recentSettlements, mining } = history;
  const asset = mining.status === 'available' ? mining.economy : null;
  return (
    <section aria-labelledby="batches">
      <h2 id="batches">Newest batches that completed blocks</h2>
      {recentSettlements.length === 0 ? (
        <p class="empty">No batch of this range has completed a block.</p>
      ) : (
        <Table
          label="newest batches"
          rows={recentSettlements}
          columns={[
            time,
            {
              name: 'Rounds',
              isNumber: true,
              cell: (one) => formatRounds(one.previousSettledThroughRound, one.settledThroughRound),
            },
            { name: 'Work', isNumber: true, cell: ({ workAdded }) => formatInteger(workAdded) },
            {
              name: 'Blocks',
              isNumber: true,
              cell: (one) =>
                one.completedBlockCount === '1'
                  ? formatInteger(one.lastCompletedBlock)
                  : `${formatInteger(one.firstCompletedBlock)}–${formatInteger(one.lastCompletedBlock)}`,
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
              cell: ({ afterRound, throughRound }) => formatRounds(afterRound, throughRound),
            },
            {
              name: 'Blocks',
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

function formatRounds(after: string, through: string): string {
  return `${formatInteger(String(BigInt(after) + 1n))}–${formatInteger(through)}`;
}
