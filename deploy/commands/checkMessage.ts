import { decodeChainReads } from '../../actors/chain/spans/chainReads.ts';
import { decodeChain } from '../../actors/chain/spans/decodeChain.ts';
import type { Rejection } from '../../actors/messages/decodeMessage.ts';
import type { StreamMessage } from '../../actors/messages/streamMessage.ts';
import { type InputStreamName, inputStreamNames, streamSubjects } from '../../actors/messages/subjects.ts';
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

/** @returns the first rule that the content of a message breaks; null if it breaks none. */
export function checkContent(stream: InputStreamName, subject: string, data: Uint8Array): Rejection | null {
  const decoded = {
    MINER_COUNTER: () => decodeCounter({ subject, data, seq: 1 }),
    MINER_PIPELINE: () => decodeSettlement(subject, data),
    MINER_CHAIN: () => decodeChainReads(subject, data) ?? decodeChain(subject, data),
  }[stream]();
  return decoded !== null && 'rejection' in decoded ? decoded.rejection : null;
}

/** Judges the messages that are passed to it, in their order, as the service does. */
export function createJudge(
  stream: Exclude<InputStreamName, 'MINER_CHAIN'>,
): (message: StreamMessage) => Rejection | null {
  const actors =
    stream === 'MINER_COUNTER'
      ? createCounterActors({ genesisMs: 0, publicInstallationId: '' })
      : createSettlementActors();
  return (message) => {
    const outcome = actors.receive(message);
    return typeof outcome === 'object' && 'rejection' in outcome ? outcome.rejection : null;
  };
}
