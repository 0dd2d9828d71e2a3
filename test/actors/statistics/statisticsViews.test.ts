import { describe, expect, it } from 'vitest';
import { plainStatisticsResponse, toStatisticsBody } from '../../../http/responses/statistics/statistics.ts';
import { genesisMs } from '../../support/genesis.ts';
import { preparedBody } from '../../support/readings/pipelineBodies.ts';
import { deriveUuid } from '../../support/readings/readingMessages.ts';
import { chainStart, startViews as startWorld } from '../viewedWorld.ts';

function startViews() {
  const { views, createViews, ...world } = startWorld(genesisMs + 3_600_000);
  const readViews = ({ statistics }: typeof views) => {
    if (statistics === null) throw new Error('the statistics are unavailable');
    return statistics;
  };
  return { ...world, views: readViews(views), createViews: () => readViews(createViews()) };
}

/** Submits a submission, and ends it after `latencyMs`. */
function submit(
  { clock, reporter }: ReturnType<typeof startViews>,
  name: string,
  latencyMs: number,
  end: string,
) {
  const submissionId = deriveUuid(name);
  reporter({ ...preparedBody, submissionId });
  reporter({ type: 'submission_submitted', submissionId, transactionHash: `0x${'a'.repeat(64)}` });
  clock.advance(latencyMs);
  reporter({ type: end, submissionId });
}

describe('statistics views', () => {
  it('stay until the next half minute, or one second on plain routes', () => {
    const { clock, views, read } = startViews();
    clock.advance(1_500);
    read(1);
    const [a, b] = [views.publicView('7d'), views.plainView('7d')];
    read(2);
    clock.advance(999);
    expect([views.publicView('7d'), views.plainView('7d')]).toEqual([a, b]);
    clock.advance(1);
    expect(views.plainView('7d').revision).not.toBe(b.revision);
    clock.advance(27_499);
    expect(views.publicView('7d')).toBe(a);
    clock.advance(1);
    expect(views.publicView('7d')).not.toBe(a);
    expect(views.publicView('30d').statistics.dayCount).toBe(30);
    // The window is that of the clock, also if that is set back.
    clock.advance(-30_000);
    expect(views.publicView('7d').statistics.generatedAtMs).toBe(a.statistics.generatedAtMs);
  });

  it.each(['publicView', 'plainView'] as const)(
    'are the same %s on each instance, and never go back',
    (kind) => {
      const { clock, views, read, createViews } = startViews();
      read(1);
      const other = createViews();
      let latestMs = 0;
      for (let step = 0; step < 300; step++) {
        // The instances are asked at different moments, and a client moves between them.
        const [asked, unasked] = step % 3 === 0 ? [other, views] : [views, other];
        const shown = asked[kind]('7d');
        expect(shown.statistics.generatedAtMs).toBeGreaterThanOrEqual(latestMs);
        latestMs = shown.statistics.generatedAtMs;
        expect(clock.nowMs() - latestMs).toBeLessThan(30_000);
        if (step % 7 === 0) expect(unasked[kind]('7d')).toEqual(shown);
        clock.advance(700);
      }
    },
  );

  it('show settled amounts as soon as the chain can be shown', () => {
    const { clock, world, views } = startViews();
    const readViews = () => [views.publicView('7d'), views.plainView('7d')] as const;
    const without = readViews();
    for (const { settled } of without) expect(settled).toBeNull();
    clock.advance(200);
    expect(readViews()).toEqual(without);
    Object.assign(world, {
      chain: { ...chainStart, core: { ...chainStart.core, cumulativeWork: 7n } },
      isCoreShown: false,
    });
    expect(readViews()).toEqual(without);
    world.isCoreShown = true;
    const first = readViews();
    for (const { settled } of first) expect(settled).toMatchObject({ settledWorkUnits: 7n });
    expect(first.map(({ revision }) => revision)).not.toEqual(without.map(({ revision }) => revision));
    for (const [index, view] of readViews().entries()) expect(view).toBe(first[index]);
    // Then they are cached as usual, even while the chain is unavailable again.
    world.chain = null;
    clock.advance(999);
    expect(readViews()).toEqual(first);
    clock.advance(1);
    expect(views.plainView('7d').settled).toBeNull();
    expect(views.publicView('7d')).toBe(first[0]);
    clock.advance(29_000);
    expect(views.publicView('7d').settled).toBeNull();
  });

  it('count submissions by outcome, with rates and latencies', () => {
    const world = startViews();
    const { clock, views } = world;
    expect(views.plainView('7d').oracle).toBeNull();
    clock.advance(23 * 3_600_000); // To noon, where windows begin.
    const sinceMs = clock.nowMs();
    submit(world, 'a', 1_000, 'submission_confirmed');
    submit(world, 'b', 2_001, 'submission_confirmed');
    submit(world, 'c', 9_000, 'submission_reverted');
    clock.advance(1_000);
    expect(views.plainView('7d').oracle).toEqual({
      coverageStartedAtMs: sinceMs,
      completeForWindow: false,
      submissionCount: 3,
      confirmedCount: 2,
      revertedCount: 1,
      supersededCount: 0,
      confirmedRateBps: 6_666,
      revertedRateBps: 3_333,
      supersededRateBps: 0,
      confirmationLatencyMedianMs: 1_500,
      confirmationLatencyP90Ms: 2_001,
    });
    const [dayMs, oracle] = [86_400_000, (range: '7d' | '30d') => views.plainView(range).oracle];
    clock.advance(6 * dayMs);
    expect(oracle('7d')).toMatchObject({ submissionCount: 3, completeForWindow: true });
    submit(world, 'd', 40 * dayMs, 'submission_confirmed');
    expect(oracle('30d')).toMatchObject({ submissionCount: 0, completeForWindow: true });
    clock.advance(dayMs - ((clock.nowMs() - sinceMs) % dayMs));
    world.reporter({ ...preparedBody, submissionId: deriveUuid('e') });
    clock.advance(30 * dayMs - 30_000);
    expect(oracle('30d')).toMatchObject({ submissionCount: 1, confirmedCount: 0 });
    clock.advance(30_000);
    expect(oracle('30d')).toMatchObject({ submissionCount: 0 });
  });

  it('omit the latency of a submission whose reporter’s clock was set back', () => {
    const world = startViews();
    const oracle = () => {
      world.clock.advance(1_000);
      const view = world.views.plainView('7d');
      expect(plainStatisticsResponse.safeParse(toStatisticsBody(1, view)).error).toBeUndefined();
      return view.oracle;
    };
    submit(world, 'a', -5_000, 'submission_confirmed');
    expect(oracle()).toMatchObject({
      confirmedCount: 1,
      confirmationLatencyMedianMs: null,
      confirmationLatencyP90Ms: null,
    });
    submit(world, 'b', 700, 'submission_confirmed');
    expect(oracle()).toMatchObject({
      confirmedCount: 2,
      confirmationLatencyMedianMs: 700,
      confirmationLatencyP90Ms: 700,
    });
  });
});
