import { citeDay } from './format/citation.ts';
import { describeEvent } from './format/events.ts';
import { describeUnreal } from './format/networks.ts';
import { writeSentence } from './format/sentence.ts';
import { formatDateAndClock } from './format/times.ts';
import { nameView } from './nameView.ts';
import type { Bodies, PageRequest, ReadBody } from './page.ts';
import { listRecordEvents, recordPath } from './resources.ts';
import { describeWhatItIs, describeWheel } from './wheelState.ts';

type Described = Pick<PageRequest, 'place' | 'nowMs' | 'chain' | 'settings'> & {
  readonly status: Bodies['status'] | null;
  readonly read: ReadBody;
};

/**
 * Title of the window, the icon for the state of the wheel, and what previews of shared links say. Previews are kept for years, so their
 * title has no state, and what can change has its time.
 */
export function describePage(page: Described) {
  const { place, nowMs, status, chain, read } = page;
  const { state, name: stateName, sentence } = describeWheel(status);
  const unreal = describeUnreal(status, chain);
  const site = `Mining activity${unreal === null ? '' : ` (${unreal.short})`}`;
  const wheel = status === null ? [] : [status.installationId];
  const name = place.view === 'glance' && status !== null ? stateName : nameView(place);
  const asOf = `As of ${formatDateAndClock(new Date(nowMs).toISOString(), 'UTC').slice(0, -3)} UTC`;
  const [event] = 'id' in place ? (listRecordEvents(place.view, place.id, read) ?? []) : [];
  const what = describeWhatItIs(chain);
  const day = place.view === 'day' ? read('day', recordPath('day', place.id))?.day : undefined;
  const description =
    event !== undefined
      ? `${writeSentence(describeEvent(event).sentence)} ${asOf}.`
      : place.view === 'glance' && status !== null
        ? `${what} ${asOf}: ${sentence}`
        : what;
  const marked = unreal === null ? description : `${unreal.sentence} ${description}`;
  return {
    title: [name, ...wheel, site].join(' · '),
    sharedTitle: [...(place.view === 'glance' ? [] : [nameView(place)]), ...wheel, site].join(' · '),
    // A citation says itself what is not real.
    description: day === undefined ? marked : citeDay(page, day),
    icon: `wheel-${status === null ? 'unknown' : state}.svg`,
  };
}
