import type { SettlementRange } from '../../../../actors/views/chain/settlementHistory.ts';
import type { Place } from '../../../addresses/place.ts';
import { Columns } from '../../charts/Columns.tsx';
import type { Observed } from '../../charts/observed.ts';
import { Available, findAvailable } from '../../components/Available.tsx';
import { Choice } from '../../components/Choice.tsx';
import { DataTable } from '../../components/DataTable.tsx';
import { Figure, Figures } from '../../components/Figure.tsx';
import { To } from '../../components/Linked.tsx';
import { usePage } from '../../components/pageContext.ts';
import { Timed } from '../../components/Time.tsx';
import { nameChain } from '../../format/networks.ts';
import { formatExact, formatInteger, formatShort } from '../../format/numbers.ts';
import { describeAmount, describeCount, describeWork } from '../../format/quantities.ts';
import { toRound } from '../../format/sentence.ts';
import { formatMinutes, time } from '../../format/times.ts';
import { coverages, explainNoMint, mintStates } from '../../format/words.ts';
import type { Bodies, Shown } from '../../page.ts';
import { corePath, settlementsPath } from '../../resources.ts';
import { settlementsTable } from '../../tables/tables.ts';

const names: Record<SettlementRange, string> = {
  now: 'All',
  '24h': '24 hours',
  '7d': '7 days',
  '30d': '30 days',
};

const protocolFeed: Place = { view: 'feed', category: 'protocol' };

/** Number of buckets per label: one label every four hours, every day, or every five days. */
const labelEvery: Record<SettlementRange, number> = { now: 1, '24h': 6, '7d': 4, '30d': 5 };

export function Settlements({ range }: { range: SettlementRange }) {
  const { read } = usePage();
  const settlements = read('settlements', settlementsPath(range));
  const core = read('core', corePath);
  const history = findAvailable(settlements);
  return (
    <>
      <section aria-labelledby="settlements">
        <h1 id="settlements">Settlements</h1>
        <p class="lead">
          Closed rounds are settled on {nameChain(usePage().chain)} in batches. Settled work completes work
          blocks, and each work block mints tokens. <To text="Every batch and mint" place={protocolFeed} /> is
          in the feed.
        </p>
        <Choice
          label="Range"
          names={names}
          chosen={range}
          toPlace={(one) => ({ view: 'settlements', range: one })}
        />
        <Available what="Settlements" body={settlements}>
          {(body) => <Summary history={body} route={settlementsPath(range)} core={core} />}
        </Available>
      </section>
      {history !== null && (
        <>
          <NextMint mining={history.mining} route={settlementsPath(range)} />
          {history.buckets.length > 0 && <Buckets history={history} />}
        </>
      )}
    </>
  );
}

function Summary({
  history,
  route,
  core,
}: {
  history: Shown<'settlements'>;
  route: string;
  core: Bodies['core'] | null;
}) {
  const { summary, mining, chain } = history;
  const { range } = history;
  return (
    <Figures isLarge route={route} safeBlock={chain.safeThroughBlock}>
      <Figure
        label="Batches"
        value={formatInteger(summary.settlementCount)}
        field="summary.settlementCount"
        exact={summary.settlementCount}
        meaning="Confirmed batches of the range."
      >
        {range !== 'now' && `${formatInteger(summary.archivedSettlementCount)} since the beginning`}
      </Figure>
      <Figure
        {...describeWork(summary.workAdded)}
        label="Work settled"
        field="summary.workAdded"
        meaning="Work that these batches added."
      />
      <Figure
        label="Completed"
        {...describeCount(summary.completedBlockCount, 'work block')}
        field="summary.completedBlockCount"
        meaning="Blocks of the wheel’s work, not blocks of the chain."
      />
      {mining.status === 'available' && (
        <Figure
          {...describeAmount(mining.rangeMintedBaseUnits, mining.economy, 2)}
          label="Minted"
          field="mining.rangeMintedBaseUnits"
          meaning="Tokens minted by the checkpoints of this range. Their rounds may have been settled earlier."
        />
      )}
      {core?.status === 'available' && (
        <Figure
          label="Work for a work block, now"
          value={formatExact(core.core.workPerThousandBlocks, 3)}
          unit="units"
          route={corePath}
          field="core.workPerThousandBlocks"
          exact={`${formatInteger(core.core.workPerThousandBlocks)} work units for 1,000 work blocks`}
          meaning="The difficulty. The contract adjusts it after each batch to keep the number of work blocks per active round steady."
          safeBlock={core.chain.safeThroughBlock}
        />
      )}
    </Figures>
  );
}

function Buckets({ history }: { history: Shown<'settlements'> }) {
  const { buckets, range } = history;
  const nowMs = Date.parse(history.generatedAt);
  const marks = buckets.map(({ startAt, endAt, completedBlockCount }) => {
    const state: Observed =
      Date.parse(startAt) > nowMs ? 'future' : Date.parse(endAt) > nowMs ? 'running' : 'complete';
    const blocks = `${formatInteger(completedBlockCount)} work blocks completed`;
    const text = { future: coverages.future, running: `${blocks} so far` }[String(state)] ?? blocks;
    return {
      key: startAt,
      value: Number(completedBlockCount),
      state,
      text: `from ${time('minute', startAt)}: ${text}`,
    };
  });
  // A time of day belongs to the left edge of its column, a date to the middle.
  const [middle, format] = range === '24h' ? ([0, 'dayAndHour'] as const) : ([0.5, 'day'] as const);
  const ticks = buckets.flatMap(({ startAt, endAt }, index) => {
    if (index % labelEvery[range] !== 0) return [];
    const labelledMs = Date.parse(startAt) * (1 - middle) + Date.parse(endAt) * middle;
    const text = time(format, new Date(labelledMs).toISOString());
    return [{ at: (index + middle) / buckets.length, text }];
  });
  return (
    <section aria-labelledby="blocks">
      <h2 id="blocks">Work blocks completed</h2>
      <Columns
        id="blocks"
        caption={`Work blocks in ${formatMinutes((history.window?.bucketSeconds ?? 0) / 60)} each, ${time('zone')}`}
        marks={marks}
        ticks={ticks}
        tone="settled"
      />
      <DataTable
        id="settlements"
        table={settlementsTable(history)}
        file={`/tables/settlements.csv?range=${range}`}
      />
    </section>
  );
}

function NextMint({ mining: body, route }: { mining: Shown<'settlements'>['mining']; route: string }) {
  return (
    <section aria-labelledby="next-mint">
      <h2 id="next-mint">Next to be minted</h2>
      <Available what="Minting" body={body}>
        {(mining) => {
          const { nextRound, economy } = mining;
          return (
            <>
              <p class="lead">
                Round <To {...toRound(nextRound.round)} />,{' '}
                <Timed
                  text={`${time('dayAndHour', nextRound.startsAt)}–${time('hour', nextRound.endsAt)} ${time('zone')}`}
                />
                . {mintStates[nextRound.state] ?? nextRound.state} {explainNoMint(mining)}
              </p>
              <Figures route={route}>
                <Figure
                  {...describeAmount(nextRound.amountBaseUnits, economy, 2)}
                  label="A mint now would be"
                  field="mining.nextRound.amountBaseUnits"
                  meaning="Tokens that a checkpoint through all settled rounds would mint."
                >
                  through round <To {...toRound(nextRound.countedThroughRound)} />
                </Figure>
                <Figure
                  {...describeAmount(mining.rewardPerBlock, economy, 4)}
                  label="For each work block"
                  field="mining.rewardPerBlock"
                />
                <Figure
                  {...describeAmount(mining.unmintedCapacityBaseUnits, economy, 0)}
                  label="Can still be minted"
                  field="mining.unmintedCapacityBaseUnits"
                >
                  of {formatShort(mining.supplyCap, economy.decimals, 0)}
                </Figure>
              </Figures>
            </>
          );
        }}
      </Available>
    </section>
  );
}
