import { Agent, get } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

/** Interval between two requests of all clients together. */
const intervalMs = 5;
const clients = 20;
const paths = ['/v1/status', '/v4/public/process', '/v1/public/telemetry', '/healthz'] as const;

/** Polls for that many seconds, as clients behind a trusted proxy. Latencies are in milliseconds, by path. */
export async function pollDuring(base: string, seconds: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  const latencies = new Map<string, number[]>(paths.map((path) => [path, []]));
  /** Requests without a response, or with another status than 200. */
  let refused = 0;

  const poll = (path: string, client: number) =>
    new Promise<void>((resolve) => {
      const startedMs = performance.now();
      const headers = { 'X-Forwarded-For': `198.51.100.${client}` };
      get(`${base}${path}`, { agent, headers }, (response) => {
        response.resume();
        response.on('end', () => {
          latencies.get(path)?.push(performance.now() - startedMs);
          if (response.statusCode !== 200) refused++;
          resolve();
        });
      }).on('error', () => {
        refused++;
        resolve();
      });
    });

  const endMs = performance.now() + seconds * 1_000;
  const polls: Promise<void>[] = [];
  for (let index = 0; performance.now() < endMs; index++) {
    polls.push(poll(paths[index % paths.length] as string, Math.floor(index / paths.length) % clients));
    await wait(intervalMs);
  }
  await Promise.all(polls);
  agent.destroy();
  return { latencies, refused };
}
