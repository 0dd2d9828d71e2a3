import type { Logger } from 'pino';
import { Registry } from 'prom-client';
import { describe, expect, it } from 'vitest';
import { createActor, createMachine } from 'xstate';
import { createActorTransitions, describeState } from '../../streams/operators/actorTransitions.ts';
import { silentLogger } from '../support/silentLogger.ts';

/** One region queries and waits for ever; the other one moves. */
const watch = createMachine({
  id: 'watch',
  context: { label: 'one' },
  type: 'parallel',
  states: {
    polling: {
      meta: { isRoutineInside: true },
      initial: 'waiting',
      states: { waiting: { on: { turn: 'asking' } }, asking: { on: { turn: 'waiting' } } },
    },
    tables: {
      initial: 'active',
      states: {
        active: { on: { rebuild: 'rebuilding' } },
        rebuilding: { initial: 'filling', states: { filling: {} } },
      },
    },
  },
});
const parent = createMachine({
  id: 'parent',
  initial: 'open',
  states: {
    open: {
      meta: { isRoutineInside: true },
      initial: 'one',
      invoke: { id: 'child', src: watch },
      states: { one: { on: { turn: 'other' } }, other: {} },
      on: { end: 'closed' },
    },
    closed: { type: 'final' },
  },
});

describe('transitions of process actors', () => {
  it('logs and counts each state once, for children too', async () => {
    const lines: unknown[] = [];
    const registry = new Registry();
    const inspect = createActorTransitions({
      logger: { debug: (line: unknown) => lines.push(line) } as unknown as Logger,
      registry,
    });
    const root = createActor(parent, { inspect });
    root.start();
    root.send({ type: 'turn' });
    const child = root.getSnapshot().children.child;
    for (const type of ['turn', 'turn', 'rebuild', 'turn']) child?.send({ type });
    root.send({ type: 'end' });
    const metrics = await registry.metrics();
    expect(lines).toEqual([
      { actor: 'watch one', state: 'tables.active' },
      { actor: 'parent', state: 'open' },
      { actor: 'watch one', state: 'tables.rebuilding.filling' },
      { actor: 'parent', state: 'closed' },
    ]);
    expect(metrics).toContain('miner_actor_transitions_total{actor="watch one",state="tables.active"} 1');
    expect(describeState(root.getSnapshot())).toBe('closed');
  });

  it('count the states of a successor too', async () => {
    const registry = new Registry();
    const inspect = createActorTransitions({ logger: silentLogger, registry });
    const [first, second] = [createActor(watch, { inspect }), createActor(watch, { inspect })];
    for (const actor of [first, second]) actor.start();
    for (const actor of [first, second]) actor.stop();
    expect((await registry.metrics()).match(/^miner_actor.*one.*$/gm)).toEqual([
      'miner_actor_transitions_total{actor="watch one",state="tables.active"} 2',
    ]);
  });
});
