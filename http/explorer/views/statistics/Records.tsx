import { findDay, formatDate } from '../../../addresses/days.ts';
import { formatPlace } from '../../../addresses/place.ts';
import { Figure, Figures } from '../../components/Figure.tsx';
import { Time } from '../../components/Time.tsx';
import { count } from '../../format/numbers.ts';
import {
  describeCount,
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

type Kind = readonly [label: string, describe: (value: string) => Quantity, as: 'minute' | 'date'];

const kinds: Record<Name, Kind> = {
  mostWorkHalfHour: ['Most work in half an hour', describeWork, 'minute'],
  mostWorkUtcDay: ['Most work in a day', describeWork, 'date'],
  maximumDailyDistanceMm: ['Longest distance of a day', describeDistance, 'date'],
  peakObservedSpeedMmPerSecond: ['Highest speed', describeSpeed, 'minute'],
  peakObservedRpmMilli: ['Quickest turning', describeRpm, 'minute'],
  longestActiveWindowMinutes: [
    'Longest run',
    (value) => ({ value: formatMinutes(Number(value)), unit: '', exact: count(value, 'minute') }),
    'minute',
  ],
  longestActiveDayStreak: ['Most active days in a row', (value) => describeCount(value, 'day'), 'date'],
};

export function Records({ statistics }: { statistics: Statistics }) {
  const names = Object.keys(kinds) as Name[]; // The keys that the type above lists.
  return (
    <section aria-labelledby="records">
      <h2 id="records">Records of the range</h2>
      <Figures route={statisticsPath(statistics.range)}>
        {names.map((name) => {
          const [label, describe, as] = kinds[name];
          const record = statistics.records[name];
          return (
            <Figure
              key={name}
              label={label}
              value={null}
              {...(record !== null && describe(record.value))}
              field={`records.${name}`}
              provenance={record === null ? null : `accepted readings, coverage ${record.coverage}`}
              observedAt={record?.occurredAt ?? null}
            >
              {record === null ? (
                'nothing above zero was observed'
              ) : (
                <>
                  <a href={formatPlace({ view: 'day', id: findDay(Date.parse(record.occurredAt)) })}>
                    {as === 'date' ? formatDate(record.occurredAt) : <Time at={record.occurredAt} as={as} />}
                  </a>
                  {record.coverage === 'partial' && ' · partly observed'}
                </>
              )}
            </Figure>
          );
        })}
      </Figures>
    </section>
  );
}
