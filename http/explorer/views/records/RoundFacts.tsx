import { findDay } from '../../../addresses/days.ts';
import { Available, findAvailable } from '../../components/Available.tsx';
import { Figure, Figures } from '../../components/Figure.tsx';
import { To } from '../../components/Linked.tsx';
import { usePage } from '../../components/pageContext.ts';
import { Time } from '../../components/Time.tsx';
import { formatInteger } from '../../format/numbers.ts';
import { describeAmount, describeWork } from '../../format/quantities.ts';
import { toDay } from '../../format/sentence.ts';
import type { Bodies, Shown } from '../../page.ts';
import { issuancePath, recordPath, statisticsPath } from '../../resources.ts';
import { dayMs, halfHourMs } from '../../rounds.ts';

type Round = Shown<'round'>['round'];

const states: Readonly<Record<Round['state'], string>> = {
  future: 'It has not begun yet.',
  open: 'It is open. Its work is being measured.',
  ended: 'It has ended. The oracle has not closed it yet.',
  closed: 'It is closed and waiting for settlement.',
  settled: 'It is settled on the chain.',
};

export function RoundFacts({ round: id }: { round: string }) {
  return (
    <Available what="The round" body={usePage().read('round', recordPath('round', id))}>
      {({ round }) => <Known {...round} />}
    </Available>
  );
}

function Known({ roundId, startAt, endAt, state, sqkMintedBaseUnits }: Round) {
  const { read } = usePage();
  const startMs = Date.parse(startAt);
  const halfHour = findHalfHour(read('statistics', statisticsPath('30d')), startMs);
  const asset = findAvailable(read('issuance', issuancePath))?.asset ?? null;
  const hasBegun = state !== 'future';
  return (
    <>
      <p class="lead">
        <Time at={startAt} as="minute" /> to <Time at={endAt} as="minute" />
        {hasBegun && (
          <>
            , on the day of <To {...toDay(findDay(startMs))} />
          </>
        )}
        . {states[state]}
      </p>
      <Figures route={recordPath('round', roundId)}>
        {halfHour !== null && (
          <Figure
            {...describeWork(halfHour.workUnits)}
            label="Work of its half hour"
            route={statisticsPath('30d')}
            field="activity.days.buckets.workUnits"
            meaning="Work is published per half hour, which is three rounds."
          >
            {formatInteger(halfHour.observedRoundCount)} of 3 rounds observed
          </Figure>
        )}
        {sqkMintedBaseUnits !== null && (
          <Figure
            {...describeAmount(sqkMintedBaseUnits, asset, 4)}
            label="Minted for it"
            field="round.sqkMintedBaseUnits"
          />
        )}
      </Figures>
      <nav class="choice" aria-label="Neighbours">
        {roundId !== '1' && <a href={`/rounds/${BigInt(roundId) - 1n}`}>← Round before</a>}
        {hasBegun && state !== 'open' && <a href={`/rounds/${BigInt(roundId) + 1n}`}>Next round →</a>}
      </nav>
    </>
  );
}

/** The half hour with a time in the statistics; null if it is older, later or not known. */
function findHalfHour(statistics: Bodies['statistics'] | null, startMs: number) {
  const date = findDay(startMs);
  const minute = (Math.floor((startMs % dayMs) / halfHourMs) * halfHourMs) / 60_000;
  const day = statistics?.activity.days.find((one) => one.date === date);
  const bucket = day?.buckets.find(({ startMinuteUtc }) => startMinuteUtc === minute);
  return bucket === undefined || bucket.coverage === 'future' ? null : bucket;
}
