import { decodeChain, decodeChainReads } from '../../actors/chain/spans/decodeChain.ts';
import type { Rejection } from '../../actors/messages/decodeMessage.ts';
import type { StreamMessage } from '../../actors/messages/streamMessage.ts';
import { type InputStreamName, inputStreamNames, streamSubjects } from '../../actors/messages/subjects.ts';
import { toMilliseconds } from '../../actors/schemas/durations.ts';
import { decodeSettlement } from '../../actors/settlement/decodeSettlement.ts';
import { createSettlementActors } from '../../actors/settlement/settlementActors.ts';
import { createCounterActors } from '../../actors/wheel/counterActors.ts';
import { decodeCounter } from '../../actors/wheel/decodeCounter.ts';

/** @returns the input stream that stores messages of a subject; null if no stream does. */
export function findInputStream(subject: string): InputStreamName | null {
  const isMatch = (pattern: string) =>
    new RegExp(`^${pattern.replaceAll('.', '\\.').replaceAll('*', '[^.\\s*>]+')}$`).test(subject);
  return inputStreamNames.find((stream) => streamSubjects[stream].some(isMatch)) ?? null;
}

/**
 * @param genesisMs start of round 1 (epoch milliseconds).
 * @returns the first rule that a message breaks by itself, if it is stored at its time; null if it breaks none.
 */
export function checkContent(
  stream: InputStreamName,
  message: StreamMessage,
  genesisMs: number,
): Rejection | null {
  const { subject, data, timestampNanos } = message;
  const storedAtMs = toMilliseconds(timestampNanos);
  const decoded = {
    MINER_COUNTER: () => decodeCounter(message, storedAtMs),
    MINER_PIPELINE: () => decodeSettlement(message, storedAtMs, genesisMs),
    MINER_CHAIN: () => decodeChainReads(subject, data) ?? decodeChain(subject, data),
  }[stream]();
  return decoded !== null && 'rejection' in decoded ? decoded.rejection : null;
}

/** Judges the messages that are passed to it, in their order, as the service does. */
export function createJudge(
  stream: Exclude<InputStreamName, 'MINER_CHAIN'>,
  genesisMs: number,
): (message: StreamMessage) => Rejection | null {
  const actors =
    stream === 'MINER_COUNTER'
      ? createCounterActors({ genesisMs, publicInstallationId: '' })
      : createSettlementActors({ genesisMs });
  return (message) => {
    const outcome = actors.receive(message);
    return typeof outcome === 'object' && 'rejection' in outcome ? outcome.rejection : null;
  };
}
