import {
  catchError,
  concatMap,
  defer,
  EMPTY,
  mergeMap,
  range,
  repeat,
  Subject,
  takeUntil,
  tap,
  timeout,
  timer,
} from 'rxjs';
import { fromFetch } from 'rxjs/fetch';
import { listPlainPaths } from '../support/http/plainPaths.ts';
import { whenFinished } from '../support/processes/lifetime.ts';

const telemetryPath = '/v1/public/telemetry';
const polled = listPlainPaths();
const pollMs = 5_000;
const answerMs = 30_000;

/** Observations of polling clients over all kills. */
interface Audience {
  readonly requests: number;
  readonly answered: number;
  /** Answers other than 200, 304 and the 503 of a service that is not ready. */
  readonly wrongAnswers: readonly string[];
  readonly longestAnswerMs: number;
  /** The longest time without a new reading in any polled telemetry. */
  readonly longestStaleMs: number;
  end(): void;
}

export function startAudience(url: () => string, clients: number): Audience {
  const ended$ = new Subject<void>();
  const state = {
    requests: 0,
    answered: 0,
    longestAnswerMs: 0,
    longestStaleMs: 0,
  };
  const wrongAnswers: string[] = [];
  const tags = new Map<string, string>();
  let newest = { revision: '', atMs: performance.now() };

  const ask = (path: string) =>
    defer(() => {
      const askedMs = performance.now();
      const tag = tags.get(path);
      state.requests++;
      return fromFetch(`${url()}${path}`, {
        headers: tag === undefined ? {} : { 'If-None-Match': tag },
        selector: async (response) => ({ response, body: await response.text() }),
      }).pipe(
        timeout(answerMs),
        tap(({ response, body }) => noteAnswer(path, response, body, performance.now() - askedMs)),
      );
    });

  const poll = (path: string) =>
    ask(path).pipe(
      // The process was killed or is starting.
      catchError(() => EMPTY),
      repeat({ delay: pollMs }),
    );

  function noteAnswer(path: string, { status, headers }: Response, body: string, tookMs: number) {
    state.answered++;
    state.longestAnswerMs = Math.max(state.longestAnswerMs, tookMs);
    if (![200, 304, 503].includes(status)) wrongAnswers.push(`${path}: ${status} ${body}`);
    const etag = headers.get('etag');
    if (status !== 200 || etag === null) return;
    tags.set(path, etag);
    if (path === telemetryPath) noteReading(etag);
  }

  function noteReading(revision: string) {
    if (revision === newest.revision) return;
    const nowMs = performance.now();
    state.longestStaleMs = Math.max(state.longestStaleMs, nowMs - newest.atMs);
    newest = { revision, atMs: nowMs };
  }

  range(0, clients)
    .pipe(
      mergeMap((number) =>
        timer((pollMs * number) / clients).pipe(
          concatMap(() => poll(polled[number % polled.length] as string)),
        ),
      ),
      takeUntil(ended$),
    )
    .subscribe();
  const end = () => ended$.next();
  whenFinished(end);
  return {
    get requests() {
      return state.requests;
    },
    get answered() {
      return state.answered;
    },
    get longestAnswerMs() {
      return state.longestAnswerMs;
    },
    get longestStaleMs() {
      return state.longestStaleMs;
    },
    wrongAnswers,
    end,
  };
}
