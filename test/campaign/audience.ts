import { whenFinished } from '../support/processes/lifetime.ts';

const polled = [
  '/v1/public/telemetry',
  '/v1/status',
  '/v4/public/process',
  '/v1/core',
  '/v1/mining/state',
  '/v1/events',
  '/v1/settlements',
];
const pollMs = 5_000;
const answerMs = 30_000;

/** Polling clients, over all kills; what they have seen. */
export interface Audience {
  readonly requests: number;
  readonly answered: number;
  /** Answers other than 200, 304 and the 503 of a service that is not ready. */
  readonly wrongAnswers: readonly string[];
  readonly longestAnswerMs: number;
  /** The longest time without another reading in the telemetry of whoever polled. */
  readonly longestStaleMs: number;
  end(): void;
}

export function startAudience(url: () => string, clients: number): Audience {
  const ending = new AbortController();
  const state = {
    requests: 0,
    answered: 0,
    longestAnswerMs: 0,
    longestStaleMs: 0,
  };
  const wrongAnswers: string[] = [];
  const tags = new Map<string, string>();
  let newest = { revision: '', atMs: performance.now() };
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  async function poll(number: number) {
    await pause((pollMs * number) / clients);
    while (!ending.signal.aborted) {
      const path = polled[number % polled.length] as string;
      const askedMs = performance.now();
      state.requests++;
      try {
        const tag = tags.get(path);
        const signal = AbortSignal.any([ending.signal, AbortSignal.timeout(answerMs)]);
        const response = await fetch(`${url()}${path}`, {
          signal,
          headers: tag === undefined ? {} : { 'If-None-Match': tag },
        });
        const body = await response.text();
        state.answered++;
        state.longestAnswerMs = Math.max(state.longestAnswerMs, performance.now() - askedMs);
        if (![200, 304, 503].includes(response.status))
          wrongAnswers.push(`${path}: ${response.status} ${body}`);
        const etag = response.headers.get('etag');
        if (response.status === 200 && etag !== null) tags.set(path, etag);
        if (response.status === 200 && path === polled[0]) noteReading(etag ?? '');
      } catch {
        // The process was killed, or is just being started.
      }
      await pause(pollMs);
    }
  }

  function noteReading(revision: string) {
    if (revision === newest.revision) return;
    const nowMs = performance.now();
    state.longestStaleMs = Math.max(state.longestStaleMs, nowMs - newest.atMs);
    newest = { revision, atMs: nowMs };
  }

  for (let number = 0; number < clients; number++) void poll(number);
  whenFinished(() => ending.abort());
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
    end: () => ending.abort(),
  };
}
