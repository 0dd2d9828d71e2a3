import fc from 'fast-check';
import { describe, it } from 'vitest';
import { moduleSubject } from '../../actors/messages/subjects.ts';
import { genesisMs } from '../support/genesis.ts';
import { runs } from '../support/propertyRuns.ts';
import { hostileHistory } from '../support/readings/hostileHistory.ts';
import { withComparedProgram } from '../support/reference/comparedProgram.ts';

const wheels = ['wheel.one', 'wheel:two', 'wheel-three', 'unknown'];
const deployment = {
  installationId: 'wheel.one',
  genesisTimestamp: genesisMs / 1000,
  streamId: `0x${'5'.repeat(64)}` as const,
  /** Less than the fastest wheel of a hostile history. */
  maximumSpeedMmPerSecond: 2_900,
  onChain: null,
};

const time = fc.constantFrom('2026-01-31T12:00:00Z', '2026-01-31T12:00:00.25Z', '2026-02-01T00:00:00.001Z');

/** As JSON. */
const sixBytes = '\u0001';

/** Mostly a valid value, or one that makes the snapshot malformed. */
const mostly = <Value>(valid: fc.Arbitrary<Value>, ...invalid: readonly Value[]) =>
  fc.oneof({ weight: 30, arbitrary: valid }, { weight: 1, arbitrary: fc.constantFrom(...invalid) });

/** Snapshots of a few modules, some of them with invalid or without optional members. */
const moduleSnapshot = fc.record({
  /** Enough to have too many bytes together. */
  instance: fc.oneof(fc.constantFrom('hall.1', 'hall:2', 'core'), {
    weight: 3,
    arbitrary: fc.nat(30).map((number) => `motor.${number}`),
  }),
  named: fc.constantFrom(null, null, null, null, 'other'),
  body: fc.record(
    {
      driverId: fc.constant('hall'),
      moduleVersion: fc.constant('1.2.3'),
      moduleType: mostly(fc.constant('wheel-sensor'), '', 'x'.repeat(129)),
      schemaVersion: mostly(fc.constantFrom(1, 7), 0),
      state: mostly(
        fc.constantFrom('disabled', 'starting', 'ready', 'degraded', 'faulted', 'stopped'),
        'unknown',
      ),
      observedAt: mostly(time, '2026-02-30T00:00:00Z', '2026-01-31T12:00Z'),
      provenance: fc.constantFrom('hardware', 'simulated', 'replay', 'derived'),
      health: fc.record(
        {
          checkedAt: time,
          message: fc.oneof(fc.constantFrom(null, '', 'ok'), fc.constant(sixBytes.repeat(1_024))),
          code: mostly(fc.constantFrom(null, '', 'E1'), 'x'.repeat(129)),
        },
        { requiredKeys: ['checkedAt'] },
      ),
      data: fc.constantFrom({}, { secret: 1 }),
    },
    { requiredKeys: ['moduleType', 'driverId', 'moduleVersion', 'schemaVersion', 'state', 'observedAt'] },
  ),
});

describe('quantities of the measurements', () => {
  it('are of the newest snapshot of each module', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(moduleSnapshot, { maxLength: 90, size: 'max' }), async (snapshots) =>
        withComparedProgram(deployment, genesisMs, async (program) => {
          for (const { instance, named, body } of snapshots) {
            const snapshot = { instanceId: named ?? instance, provenance: 'hardware', data: {}, ...body };
            program.store('MINER_PIPELINE', moduleSubject('wheel.one', instance), snapshot);
          }
          await program.compare('/v1/public/modules');
        }),
      ),
      { numRuns: runs(25) },
    );
  });

  it('are the reference’s, for histories as the worst gateways publish them', async () => {
    await fc.assert(
      // Most readings are of the days before; only later ones are refused for their time.
      fc.asyncProperty(hostileHistory, fc.nat(2_000), async (messages, laterHalfMinutes) =>
        withComparedProgram(deployment, genesisMs + 2 * 86_400_000, async (program) => {
          for (const { subject, data } of messages) program.store('MINER_COUNTER', subject, data);
          program.clock.advance(laterHalfMinutes * 30_000);
          for (const wheel of wheels) {
            const path = `/v1/public/installations/${wheel}`;
            await program.compare(`${path}/telemetry`);
            await program.compare(`${path}/observations?limit=7`);
          }
          await program.compare('/v1/public/telemetry');
          for (const range of ['7d', '30d'])
            for (const path of ['/v2/public/stats', '/v1/measurement/stats'])
              await program.compare(`${path}?range=${range}`);
        }),
      ),
      { numRuns: runs(20) },
    );
  });
});
