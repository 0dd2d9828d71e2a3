import { findFirstObservedMs } from '../../charts/observed.ts';
import { Figure } from '../../components/Figure.tsx';
import { usePage } from '../../components/pageContext.ts';
import { formatPercent } from '../../format/numbers.ts';
import { describeWork } from '../../format/quantities.ts';
import { compareWeeks, type Week } from '../../format/weeks.ts';
import { statisticsPath } from '../../resources.ts';

const route = statisticsPath('30d');

/** Work of the seven days before today against the seven before those. */
export function Weeks() {
  const statistics = usePage().read('statistics', route);
  if (statistics === null) return null;
  const firstObservedMs = findFirstObservedMs(statistics);
  const { last, before, changeBps } = compareWeeks(statistics.activity.days, firstObservedMs);
  return (
    <section aria-labelledby="weeks">
      <h2 id="weeks">This week against last</h2>
      <div class="figures">
        <WeekFigure label="The 7 days before today" week={last} />
        <WeekFigure label="The 7 days before those" week={before} />
      </div>
      <p class="small quiet">
        {changeBps === null
          ? before.beforeDayCount > 0
            ? 'They are not compared: readings began later.'
            : 'They are not compared: a day of them was not observed at all, or there was no work.'
          : changeBps === 0
            ? 'Observed work was the same.'
            : `Observed work ${changeBps < 0 ? 'fell' : 'grew'} by ${formatPercent(Math.abs(changeBps))}.`}
      </p>
    </section>
  );
}

function WeekFigure({ label, week }: { label: string; week: Week }) {
  const { workUnits, span, coverageBps, missingDayCount, beforeDayCount } = week;
  return (
    <Figure
      {...describeWork(workUnits)}
      label={label}
      route={route}
      field="activity.days.observedWorkUnits"
      meaning="The sum of seven universal days. What was not observed is unknown, and not in it."
    >
      {span}
      {beforeDayCount < 7 && `, ${formatPercent(coverageBps)} observed`}
      {beforeDayCount > 0 && `, ${beforeDayCount} of 7 days before the first reading`}
      {missingDayCount > 0 && `, ${missingDayCount} of 7 days missing`}
    </Figure>
  );
}
