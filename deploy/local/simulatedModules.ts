import type { ModuleSnapshotMessage } from '../../actors/device/moduleSnapshot.ts';
import type { SignerMessage } from '../../actors/device/signerIdentity.ts';

const modules = [
  { instanceId: 'wheel-sensor.0', moduleType: 'wheel-sensor', driverId: 'hall-effect' },
  { instanceId: 'uplink.0', moduleType: 'gateway-uplink', driverId: 'wifi' },
  { instanceId: 'signer.0', moduleType: 'secure-element', driverId: 'software' },
] as const;

/** Once per this many reports, one module is degraded for one report. */
const degradedEvery = 20;

/** The module snapshots that the simulated device agent publishes; `report` is the number of the report. */
export function simulateModules(atMs: number, report: number): ModuleSnapshotMessage[] {
  const observedAt = new Date(atMs).toISOString();
  return modules.map((module, index) => {
    const isDegraded = report % degradedEvery === degradedEvery - 1 && index === 1;
    return {
      ...module,
      moduleVersion: '1.0.0',
      schemaVersion: 1,
      state: isDegraded ? 'degraded' : 'ready',
      observedAt,
      provenance: 'simulated',
      health: isDegraded
        ? { checkedAt: observedAt, message: 'weak signal', code: 'uplink.signal' }
        : { checkedAt: observedAt },
      data: {},
    };
  });
}

export function simulateSigner(atMs: number): SignerMessage {
  const at = new Date(atMs).toISOString();
  return {
    kind: 'software-ecdsa',
    algorithm: 'ECDSA P-256',
    keySlot: 'slot-0',
    enrolledAt: at,
    lastVerifiedAt: at,
    lastSignature: Buffer.from(`simulated ${at}`).toString('base64'),
  };
}
