import { z } from 'zod';
import { yearDayCount } from '../../../actors/statistics/yearOfDays.ts';
import type { YearView } from '../../../actors/views/statisticsViews.ts';
import { installationId, schemaVersion } from '../scalars.ts';
import { dayMembers, encodeDay } from './statisticsActivity.ts';

export const yearResponse = z
  .strictObject({
    schemaVersion: schemaVersion(1),
    installationId: installationId.describe('The public installation'),
    revision: z.string().min(1).describe('Opaque; changes with the content'),
    days: z
      .array(z.strictObject(dayMembers))
      .max(yearDayCount)
      .describe('The current universal day and up to 364 before it since the genesis, ascending'),
  })
  .meta({ id: 'Year', description: 'Work and distance of each universal day of the last year' });

export function toYearBody({ installationId: id, revision, days }: YearView): z.infer<typeof yearResponse> {
  return { schemaVersion: 1, installationId: id, revision, days: days.map(encodeDay) };
}
