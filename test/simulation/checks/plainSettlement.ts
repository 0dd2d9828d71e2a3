import { decodeSettlement } from '../../../actors/settlement/decodeSettlement.ts';
import { emptyReference, foldReference } from '../../support/reference/referenceSettlement.ts';
import type { StoredStreamMessage } from '../nats/storedStream.ts';
import type { PlainRejection } from './plainCounter.ts';

/** Messages of settlement that are not accepted, by the plain fold of settlement that the machine is tested with. */
export function plainSettlementRejections(messages: Iterable<StoredStreamMessage>): PlainRejection[] {
  const rejected: PlainRejection[] = [];
  let settlement = emptyReference;
  const signers = new Set<string>();
  const newestMs = new Map<string, number>();
  for (const { sequence: position, subject, data, atNanos } of messages) {
    const decoded = decodeSettlement(subject, data);
    if (decoded === null) continue;
    if ('rejection' in decoded) {
      rejected.push({ position, reason: decoded.rejection.reason });
      continue;
    }
    const { value } = decoded;
    if (value.kind === 'oracle' || value.kind === 'reporter') {
      const storedAtMs = Number(atNanos / 1_000_000n);
      const outcome = foldReference(settlement, { ...value, storedAtMs } as Parameters<
        typeof foldReference
      >[1]);
      if ('rejection' in outcome) rejected.push({ position, reason: outcome.rejection.reason });
      else settlement = outcome.state;
    } else if (value.kind === 'signer') {
      const signer = JSON.stringify(value.signer);
      if (signers.has(signer)) rejected.push({ position, reason: 'not_allowed' });
      signers.add(signer);
    } else {
      const { instanceId, observedAtMs } = value.module;
      if (observedAtMs < (newestMs.get(instanceId) ?? 0)) rejected.push({ position, reason: 'out_of_order' });
      else newestMs.set(instanceId, observedAtMs);
    }
  }
  return rejected;
}
