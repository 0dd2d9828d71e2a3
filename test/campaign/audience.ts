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
const reconnectMs = 1_000;

/** Polling clients and event streams, over all kills; what they have seen. */
export interface Audience {
  readonly requests: number;
  readonly answered: number;
  /** Answers other than 200, 304 and the 503 of a service that is not ready. */
  readonly wrongAnswers: readonly string[];
  readonly longestAnswerMs: number;
  /** The longest time without another reading in the telemetry of whoever polled. */
  readonly longestStaleMs: number;
  readonly events: number;
  /** Events that one stream has sent twice. */
  readonly doubledEvents: number;
  end(): void;
}

export function startAudience(url: () => string, clients: number, streams: number): Audience {
  const ending = new AbortController();
  const state = {
    requests: 0,
    answered: 0,
    longestAnswerMs: 0,
    longestStaleMs: 0,
    events: 0,
    doubledEvents: 0,
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

  async function follow() {
    const seen = new Set<string>();
    let lastId = '';
    while (!ending.signal.aborted) {
      try {
        const headers = lastId === '' ? {} : { 'Last-Event-ID': lastId };
        const response = await fetch(`${url()}/v1/events/stream`, { headers, signal: ending.signal });
        let text = '';
        const decoder = new TextDecoder();
        for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
          text += decoder.decode(piece, { stream: true });
          const blocks = text.split('\n\n');
          text = blocks.pop() ?? '';
          for (const block of blocks) {
            const place = /^id: (.*)$/m.exec(block)?.[1];
            const data = /^data: (.*)$/m.exec(block)?.[1];
            if (place === undefined || data === undefined) continue;
            const { id } = JSON.parse(data) as { id: string };
            if (seen.has(id)) state.doubledEvents++;
            seen.add(id);
            state.events++;
            lastId = place;
          }
        }
      } catch {
        // As above.
      }
      await pause(reconnectMs);
    }
  }

  for (let number = 0; number < clients; number++) void poll(number);
  for (let number = 0; number < streams; number++) void follow();
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
    get events() {
      return state.events;
    },
    get doubledEvents() {
      return state.doubledEvents;
    },
    wrongAnswers,
    end: () => ending.abort(),
  };
}
