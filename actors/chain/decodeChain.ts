import { type Decoded, decodeMessage, rejected } from '../messages/decodeMessage.ts';
import { type ChainSpan, chainSpanMessage, chainSpanOf, spanBytesMax } from './chainSpan.ts';

/** A message of `MINER_CHAIN` as a span. Null for a kind that no view reads. */
export function decodeChain(subject: string, data: Uint8Array): Decoded<ChainSpan> | null {
  const [, , chain = '', kind] = subject.split('.');
  if (kind !== 'span') return null;
  if (!/^[1-9]\d{0,19}$/.test(chain)) {
    return rejected('malformed', `${subject} names no chain: expected its ID as a decimal`);
  }
  const decoded = decodeMessage(chainSpanMessage, data, spanBytesMax);
  if ('rejection' in decoded) return decoded;
  const span = chainSpanOf(BigInt(chain), decoded.value);
  if (span !== null) return { value: span };
  return rejected(
    'malformed',
    'blocks or the logs in them are not ascending, not inside the span, or disagree with its last hash',
  );
}
