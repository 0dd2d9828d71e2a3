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

/** A time, and how long ago that is; the age needs script. */
export function Age({ at }: { at: string }) {
  const nowMs = useNowMs();
  return (
    <span class="age">
      <Time at={at} as={nowMs === null ? 'minute' : 'clock'} />
      {nowMs !== null && <span class="quiet"> · {formatAge(at, nowMs)}</span>}
    </span>
  );
}

/** Within a text: how long ago, as long as the time itself is without script, so that nothing moves when the page begins to live. */
export function Ago({ at }: { at: string }) {
  const nowMs = useNowMs();
  if (nowMs === null) return <Time at={at} as="minute" />;
  return (
    <time dateTime={at} title={`${formatDayAndMinute(at)} UTC, ${new Date(at).toLocaleString()} your time`}>
      {formatAge(at, nowMs)}
    </time>
  );
}

function formatAge(at: string, nowMs: number): string {
  return `${formatDuration((nowMs - Date.parse(at)) / 1000)} ago`;
}
