import {
  catchError,
  concat,
  defer,
  distinctUntilChanged,
  finalize,
  from,
  map,
  type Observable,
  of,
  repeat,
  skipWhile,
  startWith,
  switchMap,
  tap,
  timeout,
  timer,
} from 'rxjs';
import type { DatabaseReach } from '../../machines/serviceMachine.ts';
import type { Database } from '../../storage/clickhouse/database.ts';
import { readServerVersion } from '../../storage/clickhouse/serverVersion.ts';

const intervalMs = 2_000;
/** The embedded engine is a part of this process, and a statement costs two milliseconds. */
const embeddedIntervalMs = 10_000;
/** A database that takes longer than this to answer counts as unavailable. */
const answerMs = 1_500;

const unavailable: DatabaseReach = { isReachable: false, isWithinGrace: false };
const lost: DatabaseReach = { isReachable: false, isWithinGrace: true };
const reachable: DatabaseReach = { isReachable: true, isWithinGrace: true };

/**
 * Asks ClickHouse again and again whether it answers, and emits what changes. No answer for longer than `graceMs` ends readiness
 * (CONTRACT.md, Health). It logs nothing: the parts that use the database log their own failures.
 */
export function watchDatabase(
  database: Pick<Database, 'kind' | 'select'>,
  graceMs: number,
): Observable<DatabaseReach> {
  const ask$ = defer(() => {
    const asking = new AbortController();
    // A statement of the embedded engine cannot be cancelled: closing the engine waits for its end.
    const signal = database.kind === 'server' ? asking.signal : undefined;
    return from(readServerVersion(database, signal)).pipe(
      timeout(answerMs),
      finalize(() => asking.abort()),
    );
  });
  let nextMs = intervalMs;
  return ask$.pipe(
    map(() => true),
    catchError(() => of(false)),
    tap((isAnswered) => {
      nextMs = isAnswered && database.kind === 'embedded' ? embeddedIntervalMs : intervalMs;
    }),
    repeat({ delay: () => timer(nextMs) }),
    skipWhile((isAnswered) => !isAnswered),
    distinctUntilChanged(),
    switchMap((isAnswered) =>
      isAnswered ? of(reachable) : concat(of(lost), timer(graceMs).pipe(map(() => unavailable))),
    ),
    startWith(unavailable),
  );
}
