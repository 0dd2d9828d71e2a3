import { formatClock, formatDate, formatDayAndMinute, formatDuration } from '../format/times.ts';
import { useNowMs, usePage } from './pageContext.ts';

const formats = { clock: formatClock, minute: formatDayAndMinute, date: formatDate };

/** A time in UTC; the browser's own zone stands in the title. */
export function Time({ at, as = 'clock' }: { at: string; as?: keyof typeof formats }) {
  const isAlive = usePage().actions !== null;
  return (
    <time dateTime={at} title={isAlive ? `${new Date(at).toLocaleString()} (your time)` : at}>
      {formats[as](at)}
      {as === 'date' ? '' : ' UTC'}
    </time>
  );
}

/** A time and how long ago that is; the age needs script. */
export function Age({ at }: { at: string }) {
  const nowMs = useNowMs();
  const seconds = nowMs === null ? null : (nowMs - Date.parse(at)) / 1000;
  return (
    <span class="age">
      <Time at={at} as={seconds !== null && seconds < 43_200 ? 'clock' : 'minute'} />
      {seconds !== null && <span class="quiet"> · {formatDuration(seconds)} ago</span>}
    </span>
  );
}
