import { formatClock, formatDate, formatDayAndMinute, formatDuration } from '../format/times.ts';
import { useNowMs, usePage } from './pageContext.ts';

const formats = { clock: formatClock, minute: formatDayAndMinute, date: formatDate };

/** A time in UTC, with the visitor's local time as its title. */
export function Time({ at, as = 'clock' }: { at: string; as?: keyof typeof formats }) {
  const isAlive = usePage().actions !== null;
  return (
    <time dateTime={at} title={isAlive ? `${new Date(at).toLocaleString()} (your time)` : at}>
      {formats[as](at)}
      {as === 'date' ? '' : ' UTC'}
    </time>
  );
}

/** A time and its age. The age needs script. */
export function Age({ at }: { at: string }) {
  const nowMs = useNowMs();
  return (
    <span class="age">
      <Time at={at} as={nowMs === null ? 'minute' : 'clock'} />
      {nowMs !== null && <span class="quiet"> · {formatAge(at, nowMs)}</span>}
    </span>
  );
}

/** The age of a time within a sentence. Without script the time itself is shown, at the same width, so nothing moves when the script starts. */
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
