export const inputStreamNames = ['MINER_COUNTER', 'MINER_PIPELINE', 'MINER_CHAIN'] as const;
export type InputStreamName = (typeof inputStreamNames)[number];

/** All streams of the service (MESSAGES.md, Streams): the folded streams, the rejections, and the lease of the ingesting process. */
export const streamNames = [...inputStreamNames, 'MINER_REJECTED', 'MINER_LEASE'] as const;
export type StreamName = (typeof streamNames)[number];

export const streamSubjects: Record<StreamName, string[]> = {
  MINER_COUNTER: ['miner.counter.*'],
  MINER_PIPELINE: ['miner.module.*.*', 'miner.signer.*', 'miner.oracle.*', 'miner.reporter.*'],
  MINER_CHAIN: ['miner.chain.*.span', 'miner.chain.*.reads'],
  MINER_REJECTED: ['miner.rejected.*'],
  MINER_LEASE: ['miner.lease.*'],
};

/** @returns the input stream that stores messages of a subject; null if no stream does. */
export function findInputStream(subject: string): InputStreamName | null {
  const isMatch = (pattern: string) =>
    new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '[^.\\s*>]+')}$`).test(subject);
  return inputStreamNames.find((stream) => streamSubjects[stream].some(isMatch)) ?? null;
}

/** An ID as one subject token. `.` separates tokens, so it is replaced by `~`, which no ID contains. */
function toSubjectToken(id: string): string {
  // A fast path: this runs for each message, and most IDs have no dot.
  return id.includes('.') ? id.replaceAll('.', '~') : id;
}

export function parseSubjectToken(token: string): string {
  return token.replaceAll('~', '.');
}

export function counterSubject(installationId: string): string {
  return `miner.counter.${toSubjectToken(installationId)}`;
}

export function moduleSubject(installationId: string, instanceId: string): string {
  return `miner.module.${toSubjectToken(installationId)}.${toSubjectToken(instanceId)}`;
}

export function signerSubject(installationId: string): string {
  return `miner.signer.${toSubjectToken(installationId)}`;
}

export function oracleSubject(installationId: string): string {
  return `miner.oracle.${toSubjectToken(installationId)}`;
}

export function reporterSubject(installationId: string): string {
  return `miner.reporter.${toSubjectToken(installationId)}`;
}

export function spanSubject(chainId: bigint): string {
  return `miner.chain.${chainId}.span`;
}

export function readsSubject(chainId: bigint): string {
  return `miner.chain.${chainId}.reads`;
}

export function rejectedSubject(stream: InputStreamName): string {
  return `miner.rejected.${stream}`;
}

/** Subject of the notice that a message of this subject was rejected. */
export function refusedSubject(subject: string): string {
  return subject.replace('miner.', 'miner.refused.');
}

/** @param name names the database, as one subject token. */
export function leaseSubject(name: string): string {
  return `miner.lease.${name}`;
}
