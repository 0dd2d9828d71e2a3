import { formatDay } from '../../../addresses/days.ts';
import type { ListPlace } from '../../../addresses/place.ts';
import { Columns } from '../../charts/Columns.tsx';
import { findAvailable } from '../../components/Available.tsx';
import { DataTable } from '../../components/DataTable.tsx';
import { NextMint, useMining } from '../../components/Expected.tsx';
import { Figure, Figures } from '../../components/Figure.tsx';
import { Linked, To } from '../../components/Linked.tsx';
import { More } from '../../components/More.tsx';
import { usePage } from '../../components/pageContext.ts';
import { Table } from '../../components/Table.tsx';
import { Age } from '../../components/Time.tsx';
import { nameMiners } from '../../format/events.ts';
import { describeMerge, findPartner, groupEqual } from '../../format/merges.ts';
import { count, formatExact, formatInteger, formatShort } from '../../format/numbers.ts';
import { describeAmount, describeShare } from '../../format/quantities.ts';
import { countBlocks, describeRewards } from '../../format/rewards.ts';
import { toRound } from '../../format/sentence.ts';
import type { Shown } from '../../page.ts';
import { listOwnerPaths, settlementsPath, statusPath } from '../../resources.ts';
import { earningsTable } from '../../tables/tables.ts';

type Position = Shown<'portfolio'>['positions'][number];
export function Positions({
  portfolio,
  activity,
  place,
}: {
  portfolio: Shown<'portfolio'>;
  activity: Shown<'activity'> | null;
  place: ListPlace;
}) {
  const { read } = usePage();
  const { summary, configuration, mining, chain, nextCursor } = portfolio;
  const asset = { symbol: configuration.tokenSymbol, decimals: configuration.tokenDecimals };
  const route = listOwnerPaths(portfolio.owner).positions;
  const newest = activity?.activity.find(({ kind }) => kind === 'claim');
  const next = useMining();
  const blocks = countBlocks(read('status', statusPath));
  const { paid, claimable, expected } = describeRewards(portfolio, next, blocks);
  return (
    <>
      <section aria-labelledby="rewards">
        <h2 id="rewards" class="visually-hidden">
          Rewards
        </h2>
        <Figures isLarge route={route} safeBlock={chain.safeThroughBlock}>
          <Figure {...paid} label="Paid">
            {newest !== undefined && (
              <>
                most recently {describeAmount(newest.amountBaseUnits, asset, 4).value},{' '}
                <Age of={newest.source.blockTimestamp} />
              </>
            )}
          </Figure>
          <Figure {...claimable} label="Claimable" />
          <Figure {...expected} label="Expected">
            {next !== null && blocks.closed !== null && (
              <>
                for {count(String(BigInt(next.nextRound.completedBlockCount) + blocks.closed), 'work block')}{' '}
                not minted yet.
                <NextMint mining={next} />
              </>
            )}
          </Figure>
          <Figure
            {...describeShare(summary.activeWeight, mining.totalWeight)}
            label="Share of the weight"
            field="summary.activeWeight, mining.totalWeight"
            meaning="Minted tokens are shared by weight."
          >
            weight {formatInteger(summary.activeWeight)} of {formatInteger(mining.totalWeight)}
            {summary.activeWeight !== summary.targetWeight && `, soon ${formatInteger(summary.targetWeight)}`}
          </Figure>
        </Figures>
      </section>
      <section aria-labelledby="positions">
        <h2 id="positions">{count(summary.positionCount, 'miner')}</h2>
        {summary.positionCount === '0' ? (
          <p class="empty">This address owns no miner at the safe block.</p>
        ) : (
          <PositionTable {...portfolio} isWhole={nextCursor === null && place.earlier === undefined} />
        )}
        <More place={place} list="positions" cursor={nextCursor} text="More miners" />
      </section>
      <Earnings portfolio={portfolio} />
    </>
  );
}

interface PositionTableProps extends Pick<Shown<'portfolio'>, 'positions' | 'configuration'> {
  /** Whether these are all positions of the owner. */
  readonly isWhole: boolean;
}

function PositionTable({ positions, configuration, isWhole }: PositionTableProps) {
  const { read } = usePage();
  const { tokenSymbol: symbol, tokenDecimals: decimals } = configuration;
  const settlements = findAvailable(read('settlements', settlementsPath('now')));
  const sum = (group: readonly Position[], name: 'claimableBaseUnits' | 'earnedBaseUnits') => {
    const total = group.reduce((rest, position) => rest + BigInt(position[name]), 0n);
    return (
      <span title={formatExact(total, decimals)}>
        {formatShort(total, decimals, 4)} {symbol}
      </span>
    );
  };
  return (
    <Table
      label="miners of this owner"
      hasCards
      rows={groupEqual(positions)}
      columns={[
        { name: 'Miner', cell: (group) => <Linked of={nameMiners(group.map(({ tokenId }) => tokenId))} /> },
        { name: 'Level', isNumber: true, cell: ([{ level }]) => level },
        {
          name: 'Weight',
          isNumber: true,
          cell: ([{ activeWeight, targetWeight, pendingRound }, second]) => (
            <span>
              {second !== undefined && 'each '}
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
        {
          name: 'Merge',
          cell: ([position]) => (
            <Linked
              of={describeMerge(
                position,
                findPartner(position, positions) ?? (isWhole ? undefined : null),
                settlements,
              )}
            />
          ),
        },
        { name: 'Claimable', isNumber: true, cell: (group) => sum(group, 'claimableBaseUnits') },
        { name: 'Earned in all', isNumber: true, cell: (group) => sum(group, 'earnedBaseUnits') },
      ]}
    />
  );
}

function Earnings({ portfolio }: { portfolio: Shown<'portfolio'> }) {
  const { configuration, earnings, owner } = portfolio;
  const { tokenSymbol: symbol, tokenDecimals: decimals } = configuration;
  return (
    <section aria-labelledby="earnings">
      <h2 id="earnings">Earned by these miners, day by day</h2>
      <p class="lead">
        All that the miners held now have earned, also before they came to this owner. These are calendar
        days, from midnight to midnight UTC; the wheel’s days, in the statistics, run from noon to noon.
      </p>
      {earnings.every(({ earnedBaseUnits }) => earnedBaseUnits === '0') ? (
        <p class="empty">Nothing was earned in the last seven days.</p>
      ) : (
        <Columns
          id="earnings"
          caption={`${symbol} in each calendar day, UTC`}
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
        file={`/tables/earnings.csv?owner=${owner}`}
      />
    </section>
  );
}
