import type { z } from 'zod';
import { type Decoded, decodeMessage, type MessageFormat, reject } from '../../messages/decodeMessage.ts';
import { type ChainReads, chainReadsFormat } from './chainReads.ts';
import { type ChainSpan, chainSpanFormat, toChainSpan } from './chainSpan.ts';

/** Decodes a span from a message of `MINER_CHAIN`; null for another kind of message. */
export function decodeChain(subject: string, data: Uint8Array): Decoded<ChainSpan> | null {
  const decoded = decodeChainMessage('span', chainSpanFormat, subject, data);
  if (decoded === null || 'rejection' in decoded) return decoded;
  const { chainId, message } = decoded.value;
  const span = toChainSpan(chainId, message);
  if (span !== null) return { value: span };
  return reject(
    'malformed',
    'blocks or the logs in them are not ascending, not inside the span, or disagree with its last hash',
  );
}

/** Decodes chain reads from a message of `MINER_CHAIN`; null for another kind of message. */
export function decodeChainReads(subject: string, data: Uint8Array): Decoded<ChainReads> | null {
  const decoded = decodeChainMessage('reads', chainReadsFormat, subject, data);
  if (decoded === null || 'rejection' in decoded) return decoded;
  const { chainId, message } = decoded.value;
  return { value: { ...message, chainId, blockNumber: BigInt(message.blockNumber) } };
}

/** Decodes a message on `miner.chain.<chainId>.<kind>` (MESSAGES.md, Chain span and Chain reads); null if it is of another kind. */
function decodeChainMessage<Schema extends z.ZodType>(
  kind: string,
  format: MessageFormat<Schema>,
  subject: string,
  data: Uint8Array,
): Decoded<{ readonly chainId: bigint; readonly message: z.infer<Schema> }> | null {
  const [, , chain = '', named] = subject.split('.');
  if (named !== kind) return null;
  if (!/^[1-9]\d{0,19}$/.test(chain)) {
    return reject('malformed', `subject: expected a chain ID as a decimal, given ${subject}`);
  }
  const decoded = decodeMessage(format, data);
  if ('rejection' in decoded) return decoded;
  return { value: { chainId: BigInt(chain), message: decoded.value } };
}
