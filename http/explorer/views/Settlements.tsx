import { Banner, LastKnownHistory, Unavailable } from '../components/Banner.tsx';
import { Choice } from '../components/Choice.tsx';
import { Columns } from '../components/Columns.tsx';
import { DataTable } from '../components/DataTable.tsx';
import { Figure } from '../components/Figure.tsx';
import { usePage } from '../components/pageContext.ts';
import { ResourceNotice } from '../components/ResourceNotice.tsx';
import { Scroll } from '../components/Scroll.tsx';
import { Time } from '../components/Time.tsx';
import { TransactionLink } from '../components/TransactionLink.tsx';
import { formatExact, formatInteger, formatShort, formatTick, toDrawn } from '../format/numbers.ts';
import { formatDayAndMinute } from '../format/times.ts';
import { explain, mintStates } from '../format/words.ts';
import type { Bodies } from '../page.ts';
import { type SettlementsRange, settlementsRanges } from '../place.ts';
import { corePath, settlementsPath } from '../resources.ts';
import { Difficulty } from './Difficulty.tsx';

export type History = Extract<Bodies['settlements'], { status: 'available' }>;
type Mining = Extract<History['mining'], { status: 'available' }>;

const names: Record<SettlementsRange, string> = {
  now: 'All',
  '24h': '24 hours',
  '7d': '7 days',
  '30d': '30 days',
};

/** Of so many buckets one has a label: every four hours, every day, every five days. */
const labelEvery: Record<SettlementsRange, number> = { now: 1, '24h': 4, '7d': 4, '30d': 5 };

/** What was settled on the chain, and what was minted for it. */
export function Settlements({ range }: { range: SettlementsRange }) {
  const { read } = usePage();
  const settlements = read('settlements', settlementsPath(range));
  const core = read('core', corePath).body;
  const { body } = settlements;
  return (
    <>
      <section aria-labelledby="settlements">
        <h1 id="settlements">Settlements</h1>
        <p class="lead">
          Closed rounds are settled on Ethereum in batches. Work completes blocks, and blocks are what tokens
          are minted for.
        </p>
        <Choice
          label="Range"
          options={settlementsRanges.map((one) => ({
            name: names[one],
            place: { view: 'settlements', range: one },
            isChosen: one === range,
          }))}
        />
        <ResourceNotice what="Settlements" resource={settlements} />
        {body?.status === 'unavailable' && <Unavailable>{explain(body.reason)}</Unavailable>}
        {body?.status === 'available' && (
          <Summary history={body} route={settlementsPath(range)} core={core} />
        )}
      </section>
      {body?.status === 'available' && (
        <>
          {body.buckets.length > 0 && <Buckets history={body} />}
          <Difficulty core={core} />
          <NextRound mining={body.mining} />
          <Batches history={body} />
          {body.mining.status === 'available' && <Checkpoints mining={body.mining} />}
        </>
      )}
    </>
  );
}

function Summary({ history, route, core }: { history: History; route: string; core: Bodies['core'] | null }) {
  const { summary, mining, chain } = history;
  const safeBlock = formatInteger(chain.safeThroughBlock);
  const source = (field: string, exact: string, meaning: string) => ({
    route,
    field,
    exact,
    meaning,
    safeBlock,
  });
  const { range } = history;
  return (
    <>
      <LastKnownHistory core={core} safeBlock={chain.safeThroughBlock} />
      {core?.status === 'available' && core.core.paused && (
        <Banner severity="warning" title="The core contract is paused.">
          {explain('settlement_paused')}
        </Banner>
      )}
      <div class="figures wide">
        <Figure
          size="large"
          label="Batches"
          value={formatInteger(summary.settlementCount)}
          source={source(
            'summary.settlementCount',
            summary.settlementCount,
            'Confirmed batches of the range.',
          )}
        >
          {range !== 'now' && `${formatInteger(summary.archivedSettlementCount)} since the beginning`}
        </Figure>
        <Figure
          size="large"
          label="Work settled"
          value={formatInteger(summary.workAdded)}
          unit="units"
          source={source(
            'summary.workAdded',
            `${summary.workAdded} work units`,
            'Work that these batches added.',
          )}
        />
        <Figure
          size="large"
          label="Blocks completed"
          value={formatInteger(summary.completedBlockCount)}
          source={source(
            'summary.completedBlockCount',
            `${summary.completedBlockCount} work blocks`,
            'Blocks of the wheel’s work.',
          )}
        />
        {mining.status === 'available' && (
          <Figure
            size="large"
            label="Minted"
            value={formatShort(mining.rangeMintedBaseUnits, mining.economy.decimals, 2)}
            unit={mining.economy.symbol}
            source={{
              ...source(
                'mining.rangeMintedBaseUnits',
                `${formatExact(mining.rangeMintedBaseUnits, mining.economy.decimals)} ${mining.economy.symbol}`,
                'What the checkpoints of the range have minted. It may be for rounds that were settled before.',
              ),
              contract: mining.economy.mining,
            }}
          />
        )}
      </div>
    </>
  );
}

function Buckets({ history }: { history: History }) {
  const { buckets, mining, range } = history;
  const asset = mining.status === 'available' ? mining.economy : null;
  const nowMs = Date.parse(history.generatedAt);
  const marks = buckets.map(({ startAt, completedBlockCount }) => ({
    key: startAt,
    value: toDrawn(completedBlockCount),
    state: Date.parse(startAt) > nowMs ? ('future' as const) : ('complete' as const),
    text: `from ${formatDayAndMinute(startAt)} UTC: ${formatInteger(completedBlockCount)} blocks completed`,
  }));
  const ticks = buckets.flatMap(({ startAt }, at) =>
    at % labelEvery[range] === 0
      ? [{ at, text: formatDayAndMinute(startAt).slice(0, range === '24h' ? 12 : -6) }]
      : [],
  );
  return (
    <section aria-labelledby="blocks">
      <h2 id="blocks">Blocks completed</h2>
      <Columns
        label={`Blocks completed over ${names[range]}`}
        marks={marks}
        ticks={ticks}
        formatValue={formatTick}
        tone="settled"
      />
      <DataTable
        caption={`Settled and minted over ${names[range]}`}
        fileName={`settlements-${range}.csv`}
        rows={buckets}
        columns={[
          { name: 'from', value: ({ startAt }) => startAt, isText: true },
          { name: 'batches', value: ({ settlementCount }) => settlementCount },
          { name: 'rounds with work', value: ({ activeRoundCount }) => activeRoundCount },
          { name: 'work (units)', value: ({ workAdded }) => workAdded },
          { name: 'blocks', value: ({ completedBlockCount }) => completedBlockCount },
          {
            name: asset === null ? 'minted' : `minted (base units of ${asset.symbol})`,
            value: ({ sqkMintedBaseUnits }) => sqkMintedBaseUnits ?? null,
          },
        ]}
      />
    </section>
  );
}

function NextRound({ mining }: { mining: History['mining'] }) {
  return (
    <section aria-labelledby="next-round">
      <h2 id="next-round">Next to be minted</h2>
      {mining.status === 'unavailable' ? (
        <Unavailable>{explain(mining.reason)}</Unavailable>
      ) : (
        <p>
          Round <strong>{formatInteger(mining.nextRound.round)}</strong>,{' '}
          <Time at={mining.nextRound.startsAt} as="minute" /> to{' '}
          <Time at={mining.nextRound.endsAt} as="minute" />.{' '}
          {mintStates[mining.nextRound.state] ?? mining.nextRound.state} A checkpoint through round{' '}
          {formatInteger(mining.nextRound.countedThroughRound)} would mint{' '}
          <strong>
            {formatShort(mining.nextRound.amountBaseUnits, mining.economy.decimals, 2)}{' '}
            {mining.economy.symbol}
          </strong>
          . Each block is worth {formatShort(mining.rewardPerBlock, mining.economy.decimals, 4)}{' '}
          {mining.economy.symbol}; {formatShort(mining.unmintedCapacityBaseUnits, mining.economy.decimals, 0)}{' '}
          of {formatShort(mining.supplyCap, mining.economy.decimals, 0)} can still be minted.
        </p>
      )}
    </section>
  );
}

function Batches({ history }: { history: History }) {
  const { recentSettlements, mining } = history;
  const asset = mining.status === 'available' ? mining.economy : null;
  return (
    <section aria-labelledby="batches">
      <h2 id="batches">Newest batches that completed blocks</h2>
      {recentSettlements.length === 0 ? (
        <p class="empty">No batch of this range has completed a block.</p>
      ) : (
        <Scroll label="Table: newest batches">
          <table>
            <thead>
              <tr>
                <th scope="col">Time</th>
                <th scope="col" class="number">
                  Rounds
                </th>
                <th scope="col" class="number">
                  Work
                </th>
                <th scope="col" class="number">
                  Blocks
                </th>
                <th scope="col" class="number">
                  Minted
                </th>
                <th scope="col">Transaction</th>
              </tr>
            </thead>
            <tbody>
              {recentSettlements.map((one) => (
                <tr key={`${one.transactionHash}-${one.logIndex}`}>
                  <td>
                    <Time at={one.blockTimestamp} as="minute" />
                  </td>
                  <td class="number">
                    {formatInteger(String(BigInt(one.previousSettledThroughRound) + 1n))}–
                    {formatInteger(one.settledThroughRound)}
                  </td>
                  <td class="number">{formatInteger(one.workAdded)}</td>
                  <td class="number">
                    {one.completedBlockCount === '1'
                      ? formatInteger(one.lastCompletedBlock)
                      : `${formatInteger(one.firstCompletedBlock)}–${formatInteger(one.lastCompletedBlock)}`}
                  </td>
                  <td class="number">
                    {one.sqkMintedBaseUnits === undefined || asset === null
                      ? 'not yet'
                      : `${formatShort(one.sqkMintedBaseUnits, asset.decimals, 2)} ${asset.symbol}`}
                  </td>
                  <td>
                    <TransactionLink hash={one.transactionHash} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </section>
  );
}

function Checkpoints({ mining }: { mining: Mining }) {
  const { recentCheckpoints, economy } = mining;
  return (
    <section aria-labelledby="checkpoints">
      <h2 id="checkpoints">Newest mints</h2>
      {recentCheckpoints.length === 0 ? (
        <p class="empty">Nothing was minted in this range.</p>
      ) : (
        <Scroll label="Table: newest mints">
          <table>
            <thead>
              <tr>
                <th scope="col">Time</th>
                <th scope="col" class="number">
                  Rounds
                </th>
                <th scope="col" class="number">
                  Blocks
                </th>
                <th scope="col" class="number">
                  Weight
                </th>
                <th scope="col" class="number">
                  {economy.symbol}
                </th>
                <th scope="col">Transaction</th>
              </tr>
            </thead>
            <tbody>
              {recentCheckpoints.map((one) => (
                <tr key={`${one.transactionHash}-${one.logIndex}`}>
                  <td>
                    <Time at={one.blockTimestamp} as="minute" />
                  </td>
                  <td class="number">
                    {formatInteger(String(BigInt(one.afterRound) + 1n))}–{formatInteger(one.throughRound)}
                  </td>
                  <td class="number">{formatInteger(one.completedBlockCount)}</td>
                  <td class="number">{formatInteger(one.eligibleWeight)}</td>
                  <td class="number">{formatShort(one.amountBaseUnits, economy.decimals, 2)}</td>
                  <td>
                    <TransactionLink hash={one.transactionHash} />
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </section>
  );
}
