import { describe, expect, it } from 'vitest';
import { moduleSubject, signerSubject } from '../../actors/messages/subjects.ts';
import {
  createSettlementActors,
  instancesMax,
  moduleBytesMax,
  type SettlementActors,
} from '../../actors/settlement/settlementActors.ts';
import { genesisMs } from '../support/genesis.ts';
import { jsonMessage } from '../support/jsonMessage.ts';
import { moduleBody, signerBody } from '../support/readings/pipelineBodies.ts';
import { restoreState } from '../support/restoreState.ts';

const atMs = Date.UTC(2026, 0, 31, 12);

function report(actors: SettlementActors, instanceId: string, overrides: Record<string, unknown> = {}) {
  const body = { ...moduleBody, instanceId, ...overrides };
  return actors.receive(jsonMessage(moduleSubject('wheel.one', instanceId), body));
}

const publishSigner = (actors: SettlementActors, keySlot: string) =>
  actors.receive(jsonMessage(signerSubject('wheel.one'), { ...signerBody, keySlot }));

function restore(actors: SettlementActors): SettlementActors {
  const restored = createSettlementActors({ genesisMs });
  restoreState(restored, actors.capture());
  return restored;
}

describe('the actors of the settlement stream', () => {
  it('reject a snapshot that is older, elsewhere, or one too many', () => {
    const actors = createSettlementActors({ genesisMs });
    report(actors, 'm', { state: 'degraded' });
    const view = actors.modules('wheel.one');
    const older = report(actors, 'm', { observedAt: new Date(atMs - 1).toISOString() });
    const detail =
      'observedAt: expected 2026-01-31T12:00:00.000Z or later, the time of the newest snapshot of this instance, given 2026-01-31T11:59:59.999Z';
    expect(older).toEqual({ rejection: { reason: 'out_of_order', detail } });
    const elsewhere = report(actors, 'm', { instanceId: 'n' });
    expect(elsewhere).toHaveProperty('rejection.reason', 'wrong_instance');
    expect(actors.modules('wheel.one')).toBe(view);
    for (let index = 1; index < instancesMax; index++)
      expect(report(actors, `m${index}`)).toHaveProperty('output');
    expect(report(actors, 'another')).toHaveProperty('rejection.reason', 'too_many_instances');
    expect(report(actors, 'm', { state: 'ready' })).toHaveProperty('output');
  });

  it('reject a snapshot with which all modules of an installation have too many bytes', () => {
    const actors = createSettlementActors({ genesisMs });
    const checkedAt = new Date(atMs).toISOString();
    /** Each of these characters takes six bytes as JSON. */
    const reportBytes = (instanceId: string, message: string) =>
      report(actors, instanceId, { health: { checkedAt, message } });
    const measure = () =>
      actors
        .modules('wheel.one')
        .modules.reduce((sum, module) => sum + Buffer.byteLength(JSON.stringify(module)), 0);
    for (let index = 10; index < 20; index++)
      expect(reportBytes(`m${index}`, '\u0001'.repeat(1_024))).toHaveProperty('output');
    expect(reportBytes('m20', '')).toHaveProperty('output');
    const left = moduleBytesMax - measure();
    expect(left).toBeGreaterThan(1_024);
    const full = `${'\u0001'.repeat(left / 6)}${'x'.repeat(left % 6)}`;
    expect(reportBytes('m20', `${full}x`)).toEqual({
      rejection: {
        reason: 'modules_too_large',
        detail: `message: expected at most 65536 bytes of all modules of wheel.one without data, given 65537 with m20`,
      },
    });
    expect(reportBytes('m20', full)).toHaveProperty('output');
    for (const next of [actors, restore(actors)])
      expect(report(next, 'm21')).toHaveProperty('rejection.reason', 'modules_too_large');
    // Another report of the same size takes the place of the known one.
    expect(reportBytes('m20', full)).toHaveProperty('output');
  });

  it('are restored from what they captured at the call', () => {
    const actors = createSettlementActors({ genesisMs });
    const health = { checkedAt: new Date(atMs).toISOString(), message: null, code: null };
    for (const state of ['ready', 'degraded']) {
      report(actors, 'a', { state, health });
      publishSigner(actors, state);
    }
    const [captured, before] = [actors.capture(), [...actors.capture()]];
    const restored = restore(actors);
    expect(restored.modules('wheel.one')).toEqual(actors.modules('wheel.one'));
    expect(restored.signer('wheel.one')).toEqual(actors.signer('wheel.one'));
    expect([...restored.capture()]).toEqual(before);
    report(actors, 'b');
    expect([...captured]).toEqual(before);
  });
});
