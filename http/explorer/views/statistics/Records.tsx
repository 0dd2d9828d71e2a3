import { Figure } from '../../components/Figure.tsx';
import { Time } from '../../components/Time.tsx';
import { formatInteger } from '../../format/numbers.ts';
import {
  describeDistance,
  describeRpm,
  describeSpeed,
  describeWork,
  type Quantity,
} from '../../format/quantities.ts';
import { formatMinutes } from '../../format/times.ts';
import type { Bodies } from '../../page.ts';
import { statisticsPath } from '../../resources.ts';

type Statistics = Bodies['statistics'];
type Name = keyof Statistics['records'];

interface Kind {
  readonly label: string;
  readonly describe: (value: string) => Quantity;
  readonly as: 'minute' | 'date';
}

const kinds: Record<Name, Kind> = {
  mostWorkHalfHour: { label: 'Most work in half an hour', describe: describeWork, as: 'minute' },
  mostWorkUtcDay: { label: 'Most work in a day', describe: describeWork, as: 'date' },
  maximumDailyDistanceMm: { label: 'Longest distance of a day', describe: describeDistance, as: 'date' },
  peakObservedSpeedMmPerSecond: { label: 'Highest speed', describe: describeSpeed, as: 'minute' },
  peakObservedRpmMilli: { label: 'Quickest turning', describe: describeRpm, as: 'minute' },
  longestActiveWindowMinutes: {
    label: 'Longest run',
    describe: (value) => ({
      value: formatMinutes(Number(value)),
      unit: '',
      exact: `${formatInteger(value)} minutes`,
    }),
    as: 'minute',
  },
  longestActiveDayStreak: {
    label: 'Most active days in a row',
    describe: (value) => ({
      value: formatInteger(value),
      unit: 'days',
      exact: `${formatInteger(value)} days`,
    }),
    as: 'date',
  },
};

/** Largest values of the range, each with its date. */
export function Records({ statistics }: { statistics: Statistics }) {
  const names = Object.keys(kinds) as Name[]; // The keys that the type above lists.
  return (
    <section aria-labelledby="records">
      <h2 id="records">Records of the range</h2>
      <div class="figures wide">
        {names.map((name) => {
          const { label, describe, as } = kinds[name];
          const record = statistics.records[name];
          return (
            <Figure
              key={name}
              label={label}
              value={null}
              {...(record !== null && describe(record.value))}
              route={statisticsPath(statistics.range)}
              field={`records.${name}`}
              provenance={record === null ? null : `accepted readings, coverage ${record.coverage}`}
              observedAt={record?.occurredAt ?? null}
            >
              {record === null ? (
                'nothing above zero was observed'
              ) : (
                <>
                  <Time at={record.occurredAt} as={as} />
                  {record.coverage === 'partial' && ' · partly observed'}
                </>
              )}
            </Figure>
          );
        })}
      </div>
    </section>
  );
}
