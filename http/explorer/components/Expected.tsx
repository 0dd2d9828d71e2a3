import { formatMinutes } from '../format/times.ts';
import { isSettling } from '../problems.ts';
import { expectNext } from '../roundStages.ts';
import { usePage } from './pageContext.ts';
import { Age } from './Time.tsx';

/** When the next of several similar events, such as batches, is expected; nothing while something prevents it. */
export function Expected({ what, times }: { what: string; times: readonly string[] }) {
  const page = usePage();
  const next = expectNext(times);
  if (next === null || !isSettling(page)) return null;
  const at = new Date(next.nextMs).toISOString();
  return (
    <>
      {' '}
      {what} {next.nextMs > page.nowMs ? 'is' : 'was'} expected <Age of={at} /> (usually every{' '}
      {formatMinutes(Math.round(next.usualMs / 60_000))}).
    </>
  );
}
