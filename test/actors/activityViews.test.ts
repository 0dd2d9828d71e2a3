import { describe, expect, it } from 'vitest';
import { createActivityViews } from '../../actors/activityViews.ts';
import { createCounterActors } from '../../actors/counterActors.ts';
import { createPipelineActors } from '../../actors/pipelineActors.ts';
import type { CounterReadingMessage } from '../../streams/counterReading.ts';
import { counterSubject } from '../../streams/subjects.ts';
import { chainlessViews } from '../support/chainlessViews.ts';
import { manualClock } from '../support/manualClock.ts';
import { genesisMs } from '../support/minerProcess.ts';
import { noOlderEvents } from '../support/noOlderEvents.ts';
import { readingMessage } from '../support/readingMessages.ts';

function started() {
  const clock = manualClock(genesisMs);
  const counters = createCounterActors({ genesisMs, publicInstallationId: 'wheel.one' });
  const pipeline = createPipelineActors();
  const views = createActivityViews({
    publicInstallationId: 'wheel.one',
    counters,
    pipeline,
    chain: chainlessViews('wheel.one'),
    chainState: () => null,
    genesisMs,
    isCounterCaughtUp: () => true,
    olderEvents: noOlderEvents,
    clock,
  });
  let seq = 0;
  const receive = (index: number, given: Partial<CounterReadingMessage> = {}) => {
    const data = Buffer.from(JSON.stringify(readingMessage('wheel.one', index, given)));
    return counters.receive({ seq: ++seq, subject: counterSubject('wheel.one'), data, timestampNanos: 0n });
  };
  return { clock, views, receive };
}

describe('the process snapshot', () => {
  it('is shared for a second, and made anew at once after an accepted measurement', () => {
    const { clock, views, receive } = started();
    const first = views.process();
    expect(first.measurement).toBeNull();
    clock.advance(999);
    expect(views.process()).toBe(first);
    receive(0);
    const measured = views.process();
    expect(measured.measurement?.reading.sequence).toBe(0);
    expect(measured.generatedAtMs).toBe(genesisMs + 999);
    expect(receive(0)).toHaveProperty('rejection');
    expect(views.process()).toBe(measured);
    clock.advance(1_000);
    expect(views.process()).not.toBe(measured);
  });

  it('changes its revision with a measurement and with its freshness, and not with time alone', () => {
    const { clock, views, receive } = started();
    const revisions = [views.process().revision];
    receive(0);
    revisions.push(views.process().revision);
    clock.advance(60_000);
    expect(views.process().revision).toBe(revisions[1]);
    clock.advance(60_051);
    const stale = views.process();
    expect(stale.measurement?.freshness).toBe('stale');
    revisions.push(stale.revision);
    receive(13);
    revisions.push(views.process().revision);
    expect(new Set(revisions).size).toBe(4);
  });

  it('gives the first reason that applies for what it cannot project', () => {
    const { clock, views, receive } = started();
    expect(views.process().builder).toEqual({ status: 'unavailable', reason: 'no_measurement' });
    receive(0, { coreStatus: 'COUNTER_FAULT' });
    expect(views.process().builder).toEqual({ status: 'unavailable', reason: 'counter_fault' });
    clock.advance(10_000);
    receive(1);
    expect(views.process().builder).toEqual({ status: 'unavailable', reason: 'counter_epoch_unapproved' });
    const { oracle, settlementQueue } = views.process();
    expect(oracle).toMatchObject({ state: 'unavailable', latestAcceptedAtMs: null });
    expect(oracle.reason).not.toBeNull();
    expect(settlementQueue).toEqual({ status: 'unavailable', reason: 'oracle_head_unavailable' });
  });
});
