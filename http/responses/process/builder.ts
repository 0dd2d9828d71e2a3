import { z } from 'zod';
import {
  type BuilderView,
  builderUnavailableReasons,
  type FrontierView,
} from '../../../actors/views/processProjection.ts';
import { encodeView } from '../encodeView.ts';
import { availableStatus, decimal, defineObject, uint64Decimal, unavailableStatus } from '../scalars.ts';
import { plainSumsForm, publicSumsForm, toAnchorBody, toProjectedBody } from './frontiers.ts';

/** The public route reports `round_ineligible` as `round_projection_gap` (CONTRACT.md, Builder). */
const processBuilderReasons = builderUnavailableReasons.filter((reason) => reason !== 'round_ineligible');

const queued = defineObject('BuilderQueued', {
  closedRoundCount: uint64Decimal.describe('Closed rounds above the settled frontier'),
  closedWorkUnits: decimal.describe('Work of these rounds, in work units'),
  openRoundWorkUnits: decimal.describe('Work of measured rounds that are not closed yet, in work units'),
});

function defineBuilder<Anchor extends z.ZodRawShape, Projected extends z.ZodType, Reason extends string>(
  id: string,
  { anchor, projected }: { readonly anchor: Anchor; readonly projected: Projected },
  reasons: readonly Reason[],
) {
  return z
    .discriminatedUnion('status', [
      defineObject(`${id}Available`, {
        status: availableStatus,
        anchor: defineObject(`${id}Anchor`, anchor).describe(
          'The settled frontier from which the projection starts',
        ),
        queued: queued.describe('Work that waits for settlement'),
        projected: projected.describe('The frontier if all waiting work settled now'),
      }),
      defineObject(`${id}Unavailable`, {
        status: unavailableStatus,
        reason: z
          .enum(reasons)
          .meta({ id: `${id}Reason` })
          .describe(
            'Why nothing can be projected: no reading, a counter fault, a counter epoch that the oracle has not approved, no closed round, a gap, or a round with more work than the core accepts',
          ),
      }),
    ])
    .meta({ id });
}

export const processBuilder = defineBuilder('ProcessBuilder', publicSumsForm, processBuilderReasons);

export const builder = defineBuilder('Builder', plainSumsForm, builderUnavailableReasons);

export function toProcessBuilderBody(view: BuilderView): z.infer<typeof processBuilder> {
  if (view.status === 'available') return toAvailableBuilder(view, publicSumsForm.encode);
  const { status, reason } = view;
  return { status, reason: reason === 'round_ineligible' ? 'round_projection_gap' : reason };
}

export function toBuilderBody(view: BuilderView): z.infer<typeof builder> {
  return view.status === 'available' ? toAvailableBuilder(view, plainSumsForm.encode) : view;
}

function toAvailableBuilder<Shown>(
  { status, anchor, queued: waiting, projected }: Extract<BuilderView, { status: 'available' }>,
  sums: (frontier: FrontierView) => Shown,
) {
  return {
    status,
    queued: encodeView(waiting),
    anchor: toAnchorBody(anchor, sums),
    projected: toProjectedBody(projected, sums),
  };
}
