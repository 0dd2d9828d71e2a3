import { formatDay } from '../../../addresses/days.ts';
import type { ListPlace } from '../../../addresses/place.ts';
import { Columns } from '../../charts/Columns.tsx';
import { findAvailable } from '../../components/Banner.tsx';
import { DataTable } from '../../components/DataTable.tsx';
import { Figure } from '../../components/Figure.tsx';
import { Linked, To } from '../../components/Linked.tsx';
import { More } from '../../components/More.tsx';
import { usePage } from '../../components/pageContext.ts';
import { Table } from '../../components/Table.tsx';
import { Time } from '../../components/Time.tsx';
import { count, formatExact, formatInteger, formatShort } from '../../format/numbers.ts';
import { describeAmount } from '../../format/quantities.ts';
import { type Sentence, say, toRound } from '../../format/sentence.ts';
import { describeShare, projectShare } from '../../format/shares.ts';
import type { Bodies } from '../../page.ts';
import { listOwnerPaths, settlementsPath } from '../../resources.ts';
import { earningsTable } from '../../tables/tables.ts';
import { Expected } from '../glance/RoundLanes.tsx';

export type Portfolio = Extract<Bodies['portfolio'], { status: 'available' }>;
type Position = Portfolio['positions'][number];

/** An owner's rewards, share and next mint, its positions, and its earnings on each of the last seven days. */
export function Positions({ portfolio, place }: { portfolio: Portfolio; place: ListPlace }) {
  const { summary, configuration, mining, positions, earnings, chain, nextCursor } = portfolio;
  const { tokenSymbol: symbol, tokenDecimals: decimals } = configuration;
  const asset = { symbol, decimals };
  const route = listOwnerPaths(portfolio.owner).positions;
  const common = {
    size: 'large',
    route,
    safeBlock: chain.safeThroughBlock,
    contract: portfolio.identities.mining,
  } as const;
  return (
    <>
      <section aria-labelledby="positions">
        <h2 id="positions">Miners and rewards</h2>
        <div class="figures">
          <Figure
            {...common}
            {...describeAmount(summary.claimableBaseUnits, asset, 4)}
            label="Claimable"
            field="summary.claimableBaseUnits"
            meaning="Earned but not claimed yet."
          />
          <Figure
            {...common}
            {...describeAmount(summary.earnedBaseUnits, asset, 4)}
            label="Earned in all"
            field="summary.earnedBaseUnits"
            meaning="Since this owner holds these positions."
          >
            in 7 days {formatShort(summary.earnedSevenDayBaseUnits, decimals, 4)} {symbol}
          </Figure>
          <Figure
            {...common}
            {...describeShare(summary.activeWeight, mining.totalWeight)}
            label="Share of the weight"
            field="summary.activeWeight, mining.totalWeight"
            meaning="This owner’s share of the active weight. Minted tokens are shared by weight."
          >
            weight {formatInteger(summary.activeWeight)} of {formatInteger(mining.totalWeight)}
            {summary.activeWeight !== summary.targetWeight && `, soon ${formatInteger(summary.targetWeight)}`}
          </Figure>
          <Projected portfolio={portfolio} />
          <Figure
            {...common}
            label="Miners"
            value={formatInteger(summary.positionCount)}
            field="summary.positionCount"
            exact={summary.positionCount}
            contract={portfolio.identities.collection}
          />
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
        {earnings.every(({ earnedBaseUnits }) => earnedBaseUnits === '0') ? (
          <p class="empty">Nothing was earned in the last seven days.</p>
        ) : (
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
            tone="issued"
          />
        )}
        <DataTable
          id="earnings"
          table={earningsTable(portfolio)}
          file={`/tables/earnings.csv?owner=${portfolio.owner}`}
        />
      </section>
    </>
  );
}

/** The owner's share of what a checkpoint through all settled rounds would mint. */
function Projected({ portfolio: { summary, mining } }: { portfolio: Portfolio }) {
  const settlements = findAvailable(usePage().read('settlements', nextMintPath));
  const next = findAvailable(settlements?.mining ?? null);
  const last = next?.recentCheckpoints[0];
  const amount =
    next && projectShare(next.nextRound.amountBaseUnits, summary.activeWeight, mining.totalWeight);
  return (
    <Figure
      {...describeAmount(amount, next?.economy ?? null, 4)}
      size="large"
      label="Projected at the next mint"
      route={nextMintPath}
      field="mining.nextRound.amountBaseUnits"
      meaning="Not minted or earned yet: the next mint through all settled rounds, times this owner’s current share of the weight. Rounded down."
    >
      {next !== null &&
        (next.nextRound.amountBaseUnits === '0'
          ? 'nothing settled waits to be minted'
          : `through round ${formatInteger(next.nextRound.countedThroughRound)}`)}
      {next !== null && (
        <Expected what="a mint" times={next.recentCheckpoints.map((mint) => mint.blockTimestamp)}>
          ; a mint has no fixed time
          {last !== undefined && (
            <>
              , the last was on <Time at={last.blockTimestamp} as="minute" />
            </>
          )}
        </Expected>
      )}
    </Figure>
  );
}

const nextMintPath = settlementsPath('now');

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
      hasCards
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
            <span>
              {formatInteger(activeWeight)}
              {pendingRound !== null && (
                <span class="quiet">
                  {' '}
                  → {formatInteger(targetWeight)} from round <To {...toRound(pendingRound)} />
                </span>
              )}
            </span>
          ),
        },
        { name: 'Merge', cell: (position) => <Linked of={describeMerge(position)} /> },
        { name: 'Claimable', isNumber: true, cell: ({ claimableBaseUnits }) => amount(claimableBaseUnits) },
        { name: 'Earned', isNumber: true, cell: ({ earnedBaseUnits }) => amount(earnedBaseUnits) },
      ]}
    />
  );
}

export function describeMerge({
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
      return [`in ${count(blocksUntilMerge, 'work block')}, at work block ${formatInteger(nextMergeBlock)}`];
    case 'ready':
      return ['possible now'];
  }
}
