import {
  ignoreRejected,
  isFuture,
  isId,
  isInteger,
  isObject,
  isOneOf,
  isText,
  isTime,
  type Json,
  parsePayload,
  provenances,
  readSubject,
  type StoredMessage,
  toIso,
} from './messages.ts';

/** MESSAGES.md, Module snapshot and Signer; CONTRACT.md, Modules. */

const pipelineBytesMax = 256 * 1024;
const instancesMax = 256;
const bytesOfAllMax = 64 * 1024;
const states = ['disabled', 'starting', 'ready', 'degraded', 'faulted', 'stopped'];

interface Module {
  readonly instanceId: string;
  readonly schemaVersion: number;
  readonly observedAt: string;
  readonly health: { readonly checkedAt: string };
}

/** The newest snapshot of each instance, ordered by its ID. */
export function readModules(
  messages: readonly StoredMessage[],
  installationId: string,
  onRejected = ignoreRejected,
): Module[] {
  const modules = new Map<string, Module>();
  const sizes = new Map<string, number>();
  for (const message of messages) {
    const [id, instanceId] = readSubject(message.subject, 'miner.module') ?? [];
    if (id !== installationId || instanceId === undefined) continue;
    const body = parsePayload(message, pipelineBytesMax);
    const known = modules.get(instanceId);
    const isFull = known === undefined && modules.size === instancesMax;
    if (body === null || !isModule(body)) onRejected(message, 'malformed');
    else if (body.instanceId !== instanceId) onRejected(message, 'wrong_instance');
    else if (isFuture(message, listTimes(body))) onRejected(message, 'future_observation');
    else if (isFull) onRejected(message, 'too_many_instances');
    else if (sumSizes(new Map(sizes).set(instanceId, measureSize(body))) > bytesOfAllMax)
      onRejected(message, 'modules_too_large');
    else if (known !== undefined && Date.parse(body.observedAt as string) < Date.parse(known.observedAt))
      onRejected(message, 'out_of_order');
    else {
      modules.set(instanceId, measureModule(body));
      sizes.set(instanceId, measureSize(body));
    }
  }
  return [...modules.values()].sort((a, b) => (a.instanceId < b.instanceId ? -1 : 1));
}

function isModule(body: Json): boolean {
  const { health } = body;
  return (
    isId(body.instanceId) &&
    [body.moduleType, body.driverId, body.moduleVersion].every((value) => isText(value, 128)) &&
    isInteger(body.schemaVersion, 1) &&
    isOneOf(body.state, states) &&
    isTime(body.observedAt) &&
    isOneOf(body.provenance, provenances) &&
    isObject(health) &&
    isTime(health.checkedAt) &&
    (health.message == null || isText(health.message, 1_024, 0)) &&
    (health.code == null || isText(health.code, 128, 0)) &&
    isObject(body.data)
  );
}

const sumSizes = (sizes: ReadonlyMap<string, number>) =>
  [...sizes.values()].reduce((sum, size) => sum + size, 0);

/** Bytes as JSON, with times in milliseconds. */
function measureSize(body: Json): number {
  const [observedAtMs, checkedAtMs] = listTimes(body);
  const { instanceId, moduleType, driverId, moduleVersion, schemaVersion, state, provenance, health } = body;
  const { message, code } = health as Json;
  const identity = { instanceId, moduleType, driverId, moduleVersion, schemaVersion, state, provenance };
  return Buffer.byteLength(
    JSON.stringify({ ...identity, observedAtMs, health: { checkedAtMs, message, code } }),
  );
}

const listTimes = ({ observedAt, health }: Json) => [
  Date.parse(observedAt as string),
  Date.parse((health as Module['health']).checkedAt),
];

function measureModule(body: Json): Module {
  const { instanceId, schemaVersion, observedAt, health } = body as unknown as Module;
  return {
    instanceId,
    schemaVersion,
    observedAt: toIso(Date.parse(observedAt)),
    health: { checkedAt: toIso(Date.parse(health.checkedAt)) },
  };
}

interface Signer {
  readonly enrolledAt: string;
  readonly lastVerifiedAt: string;
}

/** The newest signer. A repeated signer changes nothing (MESSAGES.md, Common rules). */
export function readSigner(
  messages: readonly StoredMessage[],
  installationId: string,
  onRejected = ignoreRejected,
): Signer | null {
  let signer: Signer | null = null;
  const known = new Set<string>();
  for (const message of messages) {
    const [id] = readSubject(message.subject, 'miner.signer') ?? [];
    if (id !== installationId) continue;
    const body = parsePayload(message, pipelineBytesMax);
    if (body === null || !isSigner(body)) {
      onRejected(message, 'malformed');
      continue;
    }
    const [enrolledAtMs, lastVerifiedAtMs] = [body.enrolledAt, body.lastVerifiedAt].map((at) =>
      Date.parse(at as string),
    );
    const isSame = known.has(JSON.stringify(body));
    if (isSame || isFuture(message, [enrolledAtMs as number, lastVerifiedAtMs as number])) {
      onRejected(message, isSame ? 'not_allowed' : 'future_observation');
      continue;
    }
    known.add(JSON.stringify(body));
    signer = { enrolledAt: toIso(enrolledAtMs as number), lastVerifiedAt: toIso(lastVerifiedAtMs as number) };
  }
  return signer;
}

function isSigner({ kind, algorithm, keySlot, enrolledAt, lastVerifiedAt, lastSignature }: Json): boolean {
  return (
    typeof kind === 'string' &&
    /^[a-z0-9][a-z0-9-]{2,63}$/.test(kind) &&
    isText(algorithm, 128) &&
    isText(keySlot, 128) &&
    isTime(enrolledAt) &&
    isTime(lastVerifiedAt) &&
    isText(lastSignature, 4_096, 0) &&
    Buffer.from(lastSignature, 'base64').toString('base64') === lastSignature
  );
}
