import {
  formatClock,
  formatDate,
  formatDateAndClock,
  formatDayAndMinute,
  formatDuration,
  nameZone,
} from '../format/times.ts';
import { useNowMs, usePage } from './pageContext.ts';

const formats = { clock: formatClock, minute: formatDayAndMinute, date: formatDate };

/** A time in the zone that the visitor has chosen. Its title is the whole time, in both zones if there is script. A date is the name of a universal day. */
export function Time({ at, as = 'clock' }: { at: string; as?: keyof typeof formats }) {
  const { zone } = usePage();
  return (
    <time dateTime={at} title={useTitle(at)}>
      {formats[as](at, zone)}
      {as === 'date' ? '' : ` ${nameZone(at, zone)}`}
    </time>
  );
}

function useTitle(at: string): string {
  const { actions } = usePage();
  const universal = `${formatDateAndClock(at, 'UTC')} UTC`;
  return actions === null ? universal : `${universal}, ${formatDateAndClock(at, 'local')} your time`;
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
  const title = useTitle(at);
  if (nowMs === null) return <Time at={at} as="minute" />;
  return (
    <time dateTime={at} title={title}>
      {formatAge(at, nowMs)}
    </time>
  );
}

function formatAge(at: string, nowMs: number): string {
  return `${formatDuration((nowMs - Date.parse(at)) / 1000)} ago`;
}
