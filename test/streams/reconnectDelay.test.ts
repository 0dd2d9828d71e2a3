import { describe, expect, it, vi } from 'vitest';
import { closeNats, followConnection, openConnection } from '../../streams/jetstream/connection.ts';
import { createReconnectDelay } from '../../streams/jetstream/reconnectDelay.ts';
import { eventually } from '../support/processes/childProcess.ts';
import { whenFinished } from '../support/processes/lifetime.ts';
import { startNats } from '../support/processes/natsServer.ts';
import { silentLogger } from '../support/silentLogger.ts';

describe('the delay of a new attempt to reach NATS', () => {
  it('is zero for a few attempts after the clock was put back', () => {
    let wallMs = 1_000_000;
    const delay = createReconnectDelay({
      waitMs: 500,
      jitterMs: 250,
      wallMs: () => wallMs,
      random: () => 0.5,
    });
    expect(delay()).toBe(625);
    wallMs -= 1;
    const delays = Array.from({ length: 10 }, delay);
    expect(delays.slice(0, 8)).toEqual(Array.from({ length: 8 }, () => Number.NEGATIVE_INFINITY));
    expect(delays.slice(8)).toEqual([625, 625]);
  });

  it('lets the client reconnect although the clock was put back by an hour', async () => {
    const nats = await startNats();
    const connection = await openConnection({ url: nats.url, name: 'test', logger: silentLogger });
    whenFinished(() => closeNats(connection));
    let isConnected = true;
    void followConnection(connection, silentLogger, (is) => {
      isConnected = is;
    });
    const realNow = Date.now;
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => realNow() - 3_600_000);
    whenFinished(() => clock.mockRestore());
    await nats.kill();
    await eventually(() => !isConnected, 'the connection to be lost');
    await nats.start();
    await eventually(() => isConnected, 'the connection to be restored');
  });
});
