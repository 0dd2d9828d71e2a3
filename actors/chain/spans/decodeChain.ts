import { type Decoded, reject } from '../../messages/decodeMessage.ts';
import { type ChainSpan, chainSpanFormat, toChainSpan } from './chainSpan.ts';
import { decodeChainMessage } from './decodeChainMessage.ts';

const spanKind = { kind: 'span', format: chainSpanFormat };

/** Decodes a span from a message of `MINER_CHAIN`; null for another kind of message. */
export function decodeChain(subject: string, data: Uint8Array): Decoded<ChainSpan> | null {
  const decoded = decodeChainMessage(spanKind, subject, data);
  if (decoded === null || 'rejection' in decoded) return decoded;
  const { chainId, message } = decoded.value;
  const span = toChainSpan(chainId, message);
  if (span !== null) return { value: span };
  return reject(
    'malformed',
    'blocks or the logs in them are not ascending, not inside the span, or disagree with its last hash',
  );
}
