import { type ChainState, emptyChainState } from '../../actors/chain/state/chainState.ts';
import type { StreamMessage } from '../../actors/messages/streamMessage.ts';
import { counterSubject, oracleSubject, reporterSubject } from '../../actors/messages/subjects.ts';
import { createSettlementActors } from '../../actors/settlement/settlementActors.ts';
import { createActorViews } from '../../actors/views/actorViews.ts';
import { createCounterActors } from '../../actors/wheel/counterActors.ts';
import type { CounterReadingMessage } from '../../actors/wheel/counterReading.ts';
import { buildBlockHash } from '../support/chain/hashes.ts';
import { createTestChainViews } from '../support/chain/testChainViews.ts';
import { genesisMs } from '../support/genesis.ts';
import { jsonMessage } from '../support/jsonMessage.ts';
import { manualClock } from '../support/manualClock.ts';
import { readingMessage } from '../support/readings/readingMessages.ts';
import { noOlderEvents } from '../support/storage/noOlderRows.ts';

export const wheelId = 'wheel.one';

export const chainStart = emptyChainState({
  number: 100n,
  hash: buildBlockHash('a'),
  timestampMs: genesisMs,
});

/** Views over the messages of one wheel, and over a chain that a test sets. */
export function startViews(startMs = genesisMs) {
  const clock = manualClock(startMs);
  const world = { chain: null as ChainState | null, isCoreShown: true };
  const messages: StreamMessage[] = [];
  const counters = createCounterActors({ genesisMs, publicInstallationId: wheelId });
  const settlements = createSettlementActors({ genesisMs });
  const createViews = () =>
    createActorViews({
      publicInstallationId: wheelId,
      counters,
      settlements,
      chain: {
        ...createTestChainViews({ installationId: wheelId }),
        core: () =>
          ({ status: world.chain !== null && world.isCoreShown ? 'available' : 'unavailable' }) as never,
        safeState: () => world.chain,
      },
      genesisMs,
      isCounterCurrent: () => true,
      olderEvents: noOlderEvents,
      olderDay: async () => new Map(),
      clock,
    });
  const store = (subject: string, body: object) => {
    const message = jsonMessage(subject, body, { seq: messages.length + 1 });
    messages.push(message);
    return message;
  };
  const say = (subject: string, body: object) =>
    settlements.receive(store(subject, { at: new Date(clock.nowMs()).toISOString(), ...body }));
  return {
    clock,
    world,
    messages,
    views: createViews(),
    createViews,
    read: (index: number, given: Partial<CounterReadingMessage> = {}) =>
      counters.receive(store(counterSubject(wheelId), readingMessage(wheelId, index, given))),
    say,
    oracle: (body: object) => say(oracleSubject(wheelId), body),
    reporter: (body: object) => say(reporterSubject(wheelId), body),
  };
}
