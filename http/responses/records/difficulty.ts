import { z } from 'zod';
import type { ChainUnavailable } from '../../../actors/views/chain/chainViewTypes.ts';
import type { DifficultyPage } from '../../../actors/views/difficultyViews.ts';
import { defineVariants, toVariant } from '../chain/chain.ts';
import { settlementEvent } from '../feed/feedEvent.ts';
import { cursor } from '../observations.ts';
import { positiveDecimal } from '../scalars.ts';
import { toEventOf } from './eventRecords.ts';

const difficulty = (when: string) =>
  positiveDecimal.describe(`Difficulty ${when}: work units for 1,000 work blocks`);

export const difficultyResponse = defineVariants(1, {
  initialWorkPerThousandBlocks: difficulty('of the first batch'),
  workPerThousandBlocks: difficulty('of the next batch'),
  changes: z
    .array(
      z
        .strictObject({
          settlement: settlementEvent.describe('The batch after which it was set'),
          workPerThousandBlocks: positiveDecimal
            .nullable()
            .describe(
              'Difficulty from this batch on: work units for 1,000 work blocks. Derived from the block units of batches; null if they do not tell it',
            ),
        })
        .meta({ id: 'DifficultyChange' }),
    )
    .max(100)
    .describe('The difficulty after each batch, newest first; a batch without work does not change it'),
  nextCursor: cursor.nullable().describe('Requests the next page; null on the last page'),
}).meta({ id: 'Difficulty', description: 'A page of all changes of the difficulty' });

export function toDifficultyBody(
  view: DifficultyPage | ChainUnavailable,
): z.infer<typeof difficultyResponse> {
  return toVariant(1, view, (page) => ({
    initialWorkPerThousandBlocks: String(page.initialWorkPerThousandBlocks),
    workPerThousandBlocks: String(page.workPerThousandBlocks),
    changes: page.events.map((item, index) => ({
      settlement: toEventOf<typeof settlementEvent>(item, page),
      workPerThousandBlocks: page.difficulties[index]?.toString() ?? null,
    })),
    nextCursor: page.nextCursor,
  }));
}
