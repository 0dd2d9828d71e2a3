import { type ModuleView, moduleSnapshotMessage } from '../device/moduleSnapshot.ts';
import { type SignerIdentity, signerMessage } from '../device/signerIdentity.ts';
import { type Decoded, decodeMessage, defineFormat, reject } from '../messages/decodeMessage.ts';
import { moduleSubject, parseSubjectToken } from '../messages/subjects.ts';
import { installationId as installationIdSchema } from '../schemas/wireScalars.ts';
import { type OracleMessage, oracleMessage } from './oracleMessage.ts';
import { type ReporterMessage, reporterMessage } from './reporterMessage.ts';

/** Larger than a reading's limit, since snapshots carry a module's own data and closures have one entry per round. */
export const settlementBytesMax = 256 * 1024;

const oracleFormat = defineFormat(oracleMessage, settlementBytesMax);
const reporterFormat = defineFormat(reporterMessage, settlementBytesMax);
const moduleFormat = defineFormat(moduleSnapshotMessage, settlementBytesMax);
const signerFormat = defineFormat(signerMessage, settlementBytesMax);

/** A message of `MINER_PIPELINE` that this service folds. */
export type SettlementStreamMessage =
  | { readonly kind: 'module'; readonly installationId: string; readonly module: ModuleView }
  | { readonly kind: 'signer'; readonly installationId: string; readonly signer: SignerIdentity }
  | { readonly kind: 'oracle'; readonly installationId: string; readonly message: OracleMessage }
  | { readonly kind: 'reporter'; readonly installationId: string; readonly message: ReporterMessage };

/** Decodes a message of `MINER_PIPELINE` by its subject; null for a kind that no view reads. */
export function decodeSettlement(subject: string, data: Uint8Array): Decoded<SettlementStreamMessage> | null {
  const [, kind, installationToken = ''] = subject.split('.');
  const installationId = parseSubjectToken(installationToken);
  if (!installationIdSchema.safeParse(installationId).success) {
    return reject(
      'malformed',
      `${subject} names no installation: expected 1-128 characters of A-Z a-z 0-9 . _ : -`,
    );
  }
  if (kind === 'module') return decodeModule(subject, installationId, data);
  if (kind === 'signer') return decodeSigner(installationId, data);
  if (kind === 'oracle') {
    const decoded = decodeMessage(oracleFormat, data);
    return 'rejection' in decoded ? decoded : { value: { kind, installationId, message: decoded.value } };
  }
  if (kind === 'reporter') {
    const decoded = decodeMessage(reporterFormat, data);
    return 'rejection' in decoded ? decoded : { value: { kind, installationId, message: decoded.value } };
  }
  return null;
}

function decodeModule(
  subject: string,
  installationId: string,
  data: Uint8Array,
): Decoded<SettlementStreamMessage> {
  const decoded = decodeMessage(moduleFormat, data);
  if ('rejection' in decoded) return decoded;
  const { observedAt, health, data: _neverPublished, ...identity } = decoded.value;
  const expected = moduleSubject(installationId, identity.instanceId);
  if (subject !== expected) {
    return reject(
      'wrong_instance',
      `instanceId ${identity.instanceId} belongs on ${expected}, given on ${subject}`,
    );
  }
  const module = {
    ...identity,
    observedAtMs: Date.parse(observedAt),
    health: { checkedAtMs: Date.parse(health.checkedAt), message: health.message, code: health.code },
  };
  return { value: { kind: 'module', installationId, module } };
}

function decodeSigner(installationId: string, data: Uint8Array): Decoded<SettlementStreamMessage> {
  const decoded = decodeMessage(signerFormat, data);
  if ('rejection' in decoded) return decoded;
  const { enrolledAt, lastVerifiedAt, ...rest } = decoded.value;
  const signer = {
    ...rest,
    enrolledAtMs: Date.parse(enrolledAt),
    lastVerifiedAtMs: Date.parse(lastVerifiedAt),
  };
  return { value: { kind: 'signer', installationId, signer } };
}
