import { formatAge, formatDateAndClock, type TimeFormat, time, writeTimes } from '../format/times.ts';
import { usePage } from './pageContext.ts';

/** A time, in UTC. The page's script writes it in the zone that the visitor has chosen. */
export function Time({ at, as }: { at: string; as: TimeFormat }) {
  return (
    <time dateTime={at} data-as={as} title={`${formatDateAndClock(at, 'UTC')} UTC`}>
      {writeTimes(time(as, at), 'UTC')}
    </time>
  );
}

/** How long ago a time is, or in how long it will be. The page's script keeps it true. */
export function Age({ of }: { of: string }) {
  return (
    <time dateTime={of} data-as="ago" title={`${formatDateAndClock(of, 'UTC')} UTC`}>
      {formatAge(of, usePage().nowMs)}
    </time>
  );
}

/** A text with times in it (`format/times.ts`). */
export function Timed({ text }: { text: string }) {
  return <span data-times={text}>{writeTimes(text, 'UTC')}</span>;
}
