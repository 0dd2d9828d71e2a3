import type { ComponentChildren } from 'preact';
import { addDays, findDay, formatDay } from '../../../addresses/days.ts';
import { DayChart } from '../../charts/DayChart.tsx';
import { Unread } from '../../components/Available.tsx';
import { Figure, Figures } from '../../components/Figure.tsx';
import { To } from '../../components/Linked.tsx';
import { usePage } from '../../components/pageContext.ts';
import { Age } from '../../components/Time.tsx';
import { Wheel } from '../../components/Wheel.tsx';
import { describeDistance, describeRpm, describeSpeed } from '../../format/quantities.ts';
import { toDay } from '../../format/sentence.ts';
import { provenances } from '../../format/words.ts';
import { nameView } from '../../nameView.ts';
import type { Bodies } from '../../page.ts';
import { eventsPath, statisticsPath, statusPath } from '../../resources.ts';
import { describeWhatItIs, describeWheel } from '../../wheelState.ts';
import { EventList } from '../feed/EventList.tsx';
import { Stages } from './Stages.tsx';

export function Glance() {
  const { read, nowMs, place, chain } = usePage();
  const status = read('status', statusPath);
  const statistics = read('statistics', statisticsPath('7d'));
  const events = read('events', eventsPath('all'));
  const today = statistics?.activity.days.at(-1);
  const yesterday = addDays(findDay(nowMs), -1);
  const { value, unit } = describeDistance(
    statistics?.activity.days.find(({ date }) => date === yesterday)?.distanceMm ?? null,
  );
  return (
    <>
      {status === null ? (
        <>
          <h1>{nameView(place)}</h1>
          <p class="lead">{describeWhatItIs(chain)}</p>
          <Unread what="The state of the wheel" />
        </>
      ) : (
        <>
          <Now status={status}>
            {value !== null && (
              <>
                {' · '}
                <To
                  text={`yesterday,\u00a0${formatDay(yesterday)}: ${value}\u00a0${unit}`}
                  place={{ view: 'day', id: yesterday }}
                />
              </>
            )}
          </Now>
          <Stages status={status} />
        </>
      )}
      <section aria-labelledby="today">
        <div class="section-head">
          <h2 id="today">Today, half hour by half hour</h2>
          <To {...toDay(findDay(nowMs))} />
        </div>
        <p class="lead">
          The wheel’s day runs from noon to noon, UTC. The line is the typical day of the last seven.
        </p>
        {statistics === null || today === undefined ? (
          <Unread what="Statistics" />
        ) : (
          <DayChart statistics={statistics} day={today} />
        )}
      </section>
      <section aria-labelledby="latest">
        <div class="section-head">
          <h2 id="latest">Latest</h2>
          <a href="/feed">All events</a>
        </div>
        <EventList feed={events} max={6} />
      </section>
    </>
  );
}

function Now({ status, children }: { status: Bodies['status']; children: ComponentChildren }) {
  const { measurement } = status;
  const { state, sentence, lostSentence } = describeWheel(status);
  const { nowMs } = usePage();
  const isOfToday = measurement !== null && findDay(Date.parse(measurement.observedAt)) === findDay(nowMs);
  const isCurrent = state === 'turning' || state === 'resting';
  // The last known speed of a silent wheel is not its speed now.
  const current = isCurrent ? measurement : null;
  const provenance =
    measurement === null ? null : (provenances[measurement.provenance] ?? measurement.provenance);
  return (
    <section class={`now ${state}`} aria-labelledby="now">
      <Wheel state={state} rpmMilli={measurement?.rpmMilli ?? 0} />
      <div class="now-text">
        <h1 id="now">
          <span class="unless lost">{sentence}</span>
          <span class="when lost">{lostSentence}</span>
        </h1>
        <p class="lead when lost">This was the last report. The wheel’s current state is unknown.</p>
        <Figures
          isLarge
          route={statusPath}
          provenance={provenance}
          observedAt={measurement?.observedAt ?? null}
        >
          <Figure
            {...describeRpm(current?.rpmMilli ?? null)}
            label="Turning at"
            field="measurement.rpmMilli"
            meaning="Turns per minute, as last reported."
          />
          <Figure
            {...describeSpeed(current?.speedMmPerSecond ?? null)}
            label="Speed"
            field="measurement.speedMmPerSecond"
            meaning="Speed of the rim, as last reported."
          />
          <Figure
            {...describeDistance(isOfToday ? measurement.distanceMm : null)}
            label="Today"
            field="measurement.distanceMm"
            meaning="Distance since noon UTC, as the device counts it."
          >
            {state === 'fault' && isOfToday && 'may be wrong: the counter reports a fault'}
          </Figure>
        </Figures>
        {measurement !== null && (
          <p class="small quiet">
            {provenance} · observed <Age of={measurement.observedAt} />
            {children}
          </p>
        )}
      </div>
    </section>
  );
}
