import { Columns } from '../../charts/Columns.tsx';
import { DataTable } from '../../components/DataTable.tsx';
import { Figure } from '../../components/Figure.tsx';
import { Linked, To } from '../../components/Linked.tsx';
import { More } from '../../components/More.tsx';
import { Table } from '../../components/Table.tsx';
import { count, formatExact, formatInteger, formatShort, formatTick } from '../../format/numbers.ts';
import { describeAmount } from '../../format/quantities.ts';
import { type Sentence, say, toBlock, toRound } from '../../format/sentence.ts';
import { formatDay } from '../../format/times.ts';
import type { Bodies } from '../../page.ts';
import type { ListPlace } from '../../place.ts';
import { listOwnerPaths } from '../../resources.ts';
import { earningsTable } from '../../tables/tables.ts';

export type Portfolio = Extract<Bodies['portfolio'], { status: 'available' }>;
type Position = Portfolio['positions'][number];

/** An owner's positions with their sums, and their earnings on each of the last seven days. */
export function Positions({ portfolio, place }: { portfolio: Portfolio; place: ListPlace }) {
  const { summary, configuration, positions, earnings, chain, nextCursor } = portfolio;
  const { tokenSymbol: symbol, tokenDecimals: decimals } = configuration;
  const route = listOwnerPaths(portfolio.owner).positions;
  const common = { size: 'large', route, safeBlock: chain.safeThroughBlock } as const;
  const amount = (label: string, field: keyof typeof summary, meaning: string) => (
    <Figure
      {...common}
      {...describeAmount(summary[field], { symbol, decimals }, 4)}
      label={label}
      field={`summary.${field}`}
      meaning={meaning}
      contract={portfolio.identities.mining}
    />
  );
  return (
    <>
      <section aria-labelledby="positions">
        <h2 id="positions" class="owner-title">
          <code>{portfolio.owner}</code>
        </h2>
        <div class="figures">
          <Figure
            {...common}
            label="Miners"
            value={formatInteger(summary.positionCount)}
            field="summary.positionCount"
            exact={summary.positionCount}
            contract={portfolio.identities.collection}
          >
            weight {formatInteger(summary.activeWeight)}
            {summary.activeWeight !== summary.targetWeight && `, soon ${formatInteger(summary.targetWeight)}`}
          </Figure>
          {amount('Claimable', 'claimableBaseUnits', 'Earned and not claimed yet.')}
          {amount(
            'Earned in 7 days',
            'earnedSevenDayBaseUnits',
            'Seven days through the date of the safe block.',
          )}
          {amount('Earned in all', 'earnedBaseUnits', 'Since these positions belong to this owner.')}
        </div>
        {summary.positionCount === '0' ? (
          <p class="empty">This address owns no miner at the safe block.</p>
        ) : (
          <PositionTable positions={positions} configuration={configuration} />
        )}
        <More place={place} list="positions" cursor={nextCursor} text="More miners" />
      </section>
      <section aria-labelledby="earnings">
        <h2 id="earnings">Earned on each day</h2>
        <p class="lead">
          These are calendar days, from midnight to midnight UTC. The wheel’s days, in the statistics, run
          from noon to noon.
        </p>
        <Columns
          id="earnings"
          label={`Earnings of the last seven days in ${symbol}`}
          marks={earnings.map(({ date, earnedBaseUnits }, index) => {
            const isRunning = index === earnings.length - 1;
            return {
              key: date,
              value: Number(earnedBaseUnits) / 10 ** decimals,
              state: isRunning ? 'running' : 'complete',
              text: `${formatDay(date)}: ${formatExact(earnedBaseUnits, decimals)} ${symbol}${isRunning ? ' so far' : ''}`,
            };
          })}
          ticks={earnings.map(({ date }, index) => ({
            at: (index + 0.5) / earnings.length,
            text: formatDay(date),
          }))}
          formatValue={formatTick}
          tone="issued"
        />
        <DataTable
          id="earnings"
          table={earningsTable(portfolio)}
          file={`/tables/earnings.csv?owner=${portfolio.owner}`}
        />
      </section>
    </>
  );
}

function PositionTable({
  positions,
  configuration,
}: {
  positions: readonly Position[];
  configuration: Portfolio['configuration'];
}) {
  const { tokenSymbol: symbol, tokenDecimals: decimals } = configuration;
  const amount = (baseUnits: string) => (
    <span title={formatExact(baseUnits, decimals)}>
      {formatShort(baseUnits, decimals, 4)} {symbol}
    </span>
  );
  return (
    <Table
      label="miners"
      list="positions"
      rowId={({ tokenId }) => `miner-${tokenId}`}
      rows={positions}
      columns={[
        { name: 'Miner', cell: ({ tokenId }) => <a href={`/miners/${tokenId}`}>#{tokenId}</a> },
        { name: 'Level', isNumber: true, cell: ({ level }) => level },
        {
          name: 'Weight',
          isNumber: true,
          cell: ({ activeWeight, targetWeight, pendingRound }) => (
            <>
              {formatInteger(activeWeight)}
              {pendingRound !== null && (
                <span class="quiet">
                  {' '}
                  → {formatInteger(targetWeight)} from round <To {...toRound(pendingRound)} />
                </span>
              )}
            </>
          ),
        },
        { name: 'Merge', cell: (position) => <Linked of={describeMerge(position)} /> },
        { name: 'Claimable', isNumber: true, cell: ({ claimableBaseUnits }) => amount(claimableBaseUnits) },
        { name: 'Earned', isNumber: true, cell: ({ earnedBaseUnits }) => amount(earnedBaseUnits) },
      ]}
    />
  );
}

function describeMerge({
  mergeState,
  blocksUntilMerge,
  nextMergeBlock,
  pendingActivationSource,
}: Position): Sentence {
  switch (mergeState) {
    case 'terminal':
      return ['highest level'];
    case 'pending':
      return say`change by ${pendingActivationSource ?? 'merge'} under way`;
    case 'cooldown':
      return say`in ${count(blocksUntilMerge, 'work block')}, at work block ${toBlock(nextMergeBlock)}`;
    case 'ready':
      return ['possible now'];
  }
}
