import { readFileSync, readlinkSync } from 'node:fs';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../deploy/process/systemClock.ts';
import { findStandbyHolder, hasEnded, isLeaseHeld } from '../../streams/ingest/ingestLease.ts';
import { eventually } from '../support/processes/lifetime.ts';
import { startContender } from '../support/streams/leaseContender.ts';
import { startStreams } from '../support/streams/startStreams.ts';

describe('the ingest lease', () => {
  it('is held for less than four seconds after its last renewal', () => {
    const sinceMs = 1_000;
    const holder = { host: 'other', pid: 1, pidSpace: null };
    const inState = (tag: string) =>
      ({
        hasTag: (one: string) => one === tag,
        context: { stored: { sinceMs }, observed: { holder } },
      }) as never;
    const isHeld = (tag: string, afterMs: number) =>
      isLeaseHeld(inState(tag), { bootMs: () => sinceMs + afterMs });
    expect([isHeld('held', 3_999), isHeld('held', 4_000), isHeld('standby', 0)]).toEqual([
      true,
      false,
      false,
    ]);
    expect(isLeaseHeld(undefined, systemClock)).toBe(false);
    const holders = [inState('standby'), inState('held'), undefined].map(findStandbyHolder);
    expect(holders).toEqual([holder, null, null]);
  });

  it('is held by one process per name, until its release', async () => {
    const { nats } = await startStreams();
    const first = await startContender(nats).acquired;
    const waiting = startContender(nats);
    await startContender(nats, 'two').acquired;
    await eventually(() => waiting.seen.length > 0, 'a standby');
    expect(waiting.seen[0]).toMatchObject({ pid: process.pid });
    expect(first.isHeld()).toBe(true);
    await first.release();
    const second = await waiting.acquired;
    expect(second.isHeld()).toBe(true);
    expect(waiting.seen.at(-1)).toBeNull();
  });

  it('is kept by its holder though its message was removed', async () => {
    const { nats } = await startStreams();
    const { isHeld } = await startContender(nats).acquired;
    await nats.jsm.streams.purge('MINER_LEASE');
    const countMessages = async () => (await nats.jsm.streams.info('MINER_LEASE')).state.messages;
    await eventually(async () => (await countMessages()) === 1 || !isHeld(), 'the next renewal');
    expect(isHeld()).toBe(true);
  });

  it('is taken by a process that missed the answer to its claim', async () => {
    const { nats } = await startStreams();
    const { append } = nats.jetStream;
    Object.assign(nats.jetStream, {
      append: async (...message: Parameters<typeof append>) => {
        await append(...message);
        Object.assign(nats.jetStream, { append });
        throw new Error('answered too late');
      },
    });
    const contender = startContender(nats);
    expect((await contender.acquired).isHeld()).toBe(true);
    expect(contender.seen).toEqual([null]);
  });

  it.runIf(process.platform === 'linux')(
    'has a holder that has ended only with its process here',
    async () => {
      const { nats } = await startStreams();
      await startContender(nats).acquired;
      const message = await nats.jsm.streams.getMessage('MINER_LEASE', { seq: 1 });
      const { holder } = message?.json<{ holder: Parameters<typeof hasEnded>[0] }>() ?? {};
      if (holder === undefined) throw new Error('the lease names no holder');
      const answers = { alive: null, ofAnotherUser: 'EPERM', gone: 'ESRCH' };
      let code: string | null = null;
      // A user with all rights is never refused.
      const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
        if (code !== null) throw Object.assign(new Error(code), { code });
        return true;
      });
      onTestFinished(() => kill.mockRestore());
      const other = { ...holder, pid: process.pid + 1 };
      const found = Object.entries(answers).map(([name, answer]) => {
        code = answer;
        return [name, hasEnded(other), hasEnded(holder), hasEnded({ ...other, host: 'elsewhere' })];
      });
      expect(found).toEqual([
        ['alive', false, false, false],
        ['ofAnotherUser', false, false, false],
        ['gone', true, false, false],
      ]);
      // Another machine may have the same name, and every machine the same number of its first namespace.
      const [boot, namespace] = [
        readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim(),
        readlinkSync('/proc/self/ns/pid'),
      ];
      expect(holder.pidSpace).toBe(`${boot} ${namespace}`);
      const elsewhere = [null, `${boot} pid:[1]`, `${boot.replace(/^./, 'x')} ${namespace}`, boot, namespace];
      expect(elsewhere.filter((pidSpace) => hasEnded({ ...other, pidSpace }))).toEqual([]);
    },
  );
});
