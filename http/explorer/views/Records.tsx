import { Figure } from '../components/Figure.tsx';
import { Time } from '../components/Time.tsx';
import { formatDistance, formatInteger, formatRpm, formatSpeed } from '../format/numbers.ts';
import { formatMinutes } from '../format/times.ts';
import type { Bodies } from '../page.ts';
import { statisticsPath } from '../resources.ts';

type Statistics = Bodies['statistics'];
type Name = keyof Statistics['records'];

interface Kind {
  readonly label: string;
  readonly format: (value: string) => { text: string; unit: string };
  readonly unit: string;
  readonly as: 'minute' | 'date';
}

const count = (unit: string) => (value: string) => ({ text: formatInteger(value), unit });

const kinds: Record<Name, Kind> = {
  mostWorkHalfHour: {
    label: 'Most work in half an hour',
    format: count('units'),
    unit: 'work units',
    as: 'minute',
  },
  mostWorkUtcDay: { label: 'Most work in a day', format: count('units'), unit: 'work units', as: 'date' },
  maximumDailyDistanceMm: {
    label: 'Longest distance of a day',
    format: formatDistance,
    unit: 'mm',
    as: 'date',
  },
  peakObservedSpeedMmPerSecond: { label: 'Highest speed', format: formatSpeed, unit: 'mm/s', as: 'minute' },
  peakObservedRpmMilli: {
    label: 'Quickest turning',
    format: formatRpm,
    unit: 'thousandths of a turn per minute',
    as: 'minute',
  },
  longestActiveWindowMinutes: {
    label: 'Longest run',
    format: (value) => ({ text: formatMinutes(Number(value)), unit: '' }),
    unit: 'minutes',
    as: 'minute',
  },
  longestActiveDayStreak: {
    label: 'Most active days in a row',
    format: count('days'),
    unit: 'days',
    as: 'date',
  },
};

/** The largest of the range, each with its date. */
export function Records({ statistics }: { statistics: Statistics }) {
  const names = Object.keys(kinds) as Name[]; // The keys that the type above lists.
  return (
    <section aria-labelledby="records">
      <h2 id="records">Records of the range</h2>
      <div class="figures wide">
        {names.map((name) => {
          const { label, format, unit, as } = kinds[name];
          const record = statistics.records[name];
          const formatted = record === null ? null : format(record.value);
          return (
            <Figure
              key={name}
              label={label}
              value={formatted?.text ?? null}
              unit={formatted?.unit ?? ''}
              source={{
                route: statisticsPath(statistics.range),
                field: `records.${name}`,
                exact: record === null ? null : `${formatInteger(record.value)} ${unit}`,
                provenance: record === null ? null : `accepted readings, coverage ${record.coverage}`,
                observedAt: record?.occurredAt ?? null,
              }}
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
