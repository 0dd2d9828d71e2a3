import { z } from 'zod';
import { defineObject, timestamp, unboundedDecimal } from '../scalars.ts';

const record = defineObject('StatisticsRecord', {
  value: unboundedDecimal.describe(
    'The value, in the unit of the record’s name; work in work units, a streak in days',
  ),
  occurredAt: timestamp.describe(
    'Start of the half hour, day or run; for a peak, when the device took the reading',
  ),
  coverage: z
    .enum(['complete', 'partial'])
    .meta({ id: 'StatisticsRecordCoverage' })
    .describe('Whether the record’s whole span was observed'),
}).nullable();

export const records = defineObject('StatisticsRecords', {
  mostWorkHalfHour: record.describe('Most work in a half hour, in work units'),
  mostWorkUtcDay: record.describe('Most work in a universal day, in work units'),
  maximumDailyDistanceMm: record.describe('Longest distance of a universal day, in millimetres'),
  peakObservedRpmMilli: record.describe(
    'Highest speed of rotation, in thousandths of revolutions per minute',
  ),
  peakObservedSpeedMmPerSecond: record.describe('Highest speed, in millimetres per second'),
  longestActiveWindowMinutes: record.describe('Longest run of observed rounds with work, in minutes'),
  longestActiveDayStreak: record.describe('Longest run of days with work, in days'),
});
