import { describe, expect, it, vi } from 'vitest';
import { createClient } from '../../http/client/index.ts';
import { useVirtualTime } from '../support/virtualTime.ts';

const heartbeatMs = 15_000;

/** Follows a stream without events. After `heartbeats` comments the service is silent. */
function follow(heartbeats = Number.POSITIVE_INFINITY) {
  const ending = new AbortController();
  let connections = 0;
  const reconnects: string[] = [];
  const send: typeof fetch = async (_, options) => {
    connections++;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        let sent = 0;
        const beat = setInterval(() => {
          controller.enqueue(new TextEncoder().encode(':\n\n'));
          if (++sent === heartbeats) clearInterval(beat);
        }, heartbeatMs);
        options?.signal?.addEventListener('abort', () => {
          clearInterval(beat);
          controller.error(options.signal?.reason);
        });
      },
    });
    return new Response(body);
  };
  const client = createClient({ baseUrl: 'http://miner.example', fetch: send });
  const onReconnect = (error: unknown) => reconnects.push(String(error));
  const first = client.events({ onReconnect, signal: ending.signal }).next();
  first.catch(() => undefined); // The signal ends it.
  return { reconnects, connections: () => connections, end: () => ending.abort() };
}

describe('a stream without events', () => {
  useVirtualTime();

  it('keeps its connection while heartbeats arrive', async () => {
    const { reconnects, connections, end } = follow();
    await vi.advanceTimersByTimeAsync(120_000);
    expect([connections(), reconnects]).toEqual([1, []]);
    end();
  });

  it('gets another connection 45 seconds after the last heartbeat', async () => {
    const { reconnects, connections, end } = follow(1);
    await vi.advanceTimersByTimeAsync(heartbeatMs + 44_999);
    expect([connections(), reconnects]).toEqual([1, []]);
    await vi.advanceTimersByTimeAsync(1_001);
    expect([connections(), reconnects]).toEqual([2, ['ConnectionLost: no data for 45 seconds']]);
    end();
  });
});
