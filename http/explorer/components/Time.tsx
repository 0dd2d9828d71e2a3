import { formatDate } from '../../addresses/days.ts';
import { formatDateAndClock, type TimeFormat, time, writeTimes } from '../format/times.ts';

/**
 * A time, in UTC. The page's script writes it in the zone that the visitor has chosen.
 *
 * @param as `ago`: the script shows how long ago it was instead, or in how long it will be.
 */
export function Time({ at, as = 'clock' }: { at: string; as?: TimeFormat | 'ago' }) {
  return (
    <time dateTime={at} data-as={as} title={`${formatDateAndClock(at, 'UTC')} UTC`}>
      {writeTimes(time(as === 'ago' ? 'minute' : as, at), 'UTC')}
    </time>
  );
}

/** The date of a universal day, which is the same in every zone. */
export function Day({ of }: { of: string }) {
  return <time dateTime={of.slice(0, 10)}>{formatDate(of)}</time>;
}

/** A text with times in it (`format/times.ts`). */
export function Timed({ text }: { text: string }) {
  return <span data-times={text}>{writeTimes(text, 'UTC')}</span>;
}
