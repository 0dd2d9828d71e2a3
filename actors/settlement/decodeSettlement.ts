import { type ModuleView, moduleSnapshotMessage } from '../device/moduleSnapshot.ts';
import { type SignerIdentity, signerMessage } from '../device/signerIdentity.ts';
import { type Decoded, decodeMessage, defineFormat, reject } from '../messages/decodeMessage.ts';
import { findFutureTime } from '../messages/futureTimes.ts';
import type { StreamMessage } from '../messages/streamMessage.ts';
import { moduleSubject, parseSubjectToken } from '../messages/subjects.ts';
import { installationId as installationIdSchema } from '../schemas/wireScalars.ts';
import { roundMs } from '../wheel/roundFold.ts';
import { explainBoundsExceeded } from './coreBounds.ts';
import { type OracleMessage, oracleMessage } from './oracleMessage.ts';
import { type ReporterMessage, reporterMessage, toExpectedSums } from './reporterMessage.ts';

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

/** The publisher's own time of a message (epoch milliseconds). */
export function findMadeAtMs(value: SettlementStreamMessage): number {
  if (value.kind === 'module') return value.module.observedAtMs;
  return value.kind === 'signer' ? value.signer.lastVerifiedAtMs : Date.parse(value.message.at);
}

/**
 * Decodes a message of `MINER_PIPELINE` by its subject, and refuses one that names a time in the future; null for a kind that no view reads.
 *
 * @param storedAtMs when the stream stored the message (epoch milliseconds).
 * @param genesisMs start of round 1 (epoch milliseconds).
 */
export function decodeSettlement(
  { subject, data }: Pick<StreamMessage, 'subject' | 'data'>,
  storedAtMs: number,
  genesisMs: number,
): Decoded<SettlementStreamMessage> | null {
  const decoded = decodeContent(subject, data);
  if (decoded === null || 'rejection' in decoded) return decoded;
  const stored = { name: 'the stream stored it', ms: storedAtMs };
  return findFutureTime(listTimes(decoded.value, genesisMs), stored) ?? decoded;
}

/** Times that a message names, in epoch milliseconds. */
function listTimes(
  decoded: SettlementStreamMessage,
  genesisMs: number,
): Readonly<Record<string, number | bigint>> {
  switch (decoded.kind) {
    case 'module': {
      const { observedAtMs, health } = decoded.module;
      return { observedAt: observedAtMs, 'health.checkedAt': health.checkedAtMs };
    }
    case 'signer': {
      const { enrolledAtMs, lastVerifiedAtMs } = decoded.signer;
      return { enrolledAt: enrolledAtMs, lastVerifiedAt: lastVerifiedAtMs };
    }
    case 'oracle': {
      const { message } = decoded;
      const at = Date.parse(message.at);
      if (message.type !== 'closure_accepted') return { at };
      const { acceptedAt, lastRound } = message;
      const endMs = BigInt(genesisMs) + BigInt(lastRound) * BigInt(roundMs);
      return { at, acceptedAt: Date.parse(acceptedAt), [`the end of round ${lastRound}`]: endMs };
    }
    case 'reporter':
      return { at: Date.parse(decoded.message.at) };
  }
}

function decodeContent(subject: string, data: Uint8Array): Decoded<SettlementStreamMessage> | null {
  const [, kind, installationToken = ''] = subject.split('.');
  const installationId = parseSubjectToken(installationToken);
  if (!installationIdSchema.safeParse(installationId).success) {
    return reject(
      'malformed',
      `subject: expected an installation of 1-128 characters of A-Z a-z 0-9 . _ : -, given ${subject}`,
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
    if ('rejection' in decoded) return decoded;
    const message = decoded.value;
    const excess =
      message.type === 'submission_prepared' ? explainBoundsExceeded(toExpectedSums(message.expected)) : null;
    return excess === null ? { value: { kind, installationId, message } } : reject('malformed', excess);
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
  const { checkedAt, ...checked } = health;
  const expected = moduleSubject(installationId, identity.instanceId);
  if (subject !== expected) {
    return reject(
      'wrong_instance',
      `subject: expected ${expected}, since instanceId is ${identity.instanceId}, given ${subject}`,
    );
  }
  const module = {
    ...identity,
    observedAtMs: Date.parse(observedAt),
    health: { checkedAtMs: Date.parse(checkedAt), ...checked },
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
