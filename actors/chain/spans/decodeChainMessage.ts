import type { z } from 'zod';
import { type Decoded, decodeMessage, type MessageFormat, reject } from '../../messages/decodeMessage.ts';

/** A kind of message on `miner.chain.<chainId>.<kind>` (MESSAGES.md, Chain span and Chain reads). */
interface ChainMessageKind<Schema extends z.ZodType> {
  readonly kind: string;
  readonly format: MessageFormat<Schema>;
}

interface ChainMessage<Message> {
  readonly chainId: bigint;
  readonly message: Message;
}

/** Decodes a message of `MINER_CHAIN`; null if it is of another kind. */
export function decodeChainMessage<Schema extends z.ZodType>(
  { kind, format }: ChainMessageKind<Schema>,
  subject: string,
  data: Uint8Array,
): Decoded<ChainMessage<z.infer<Schema>>> | null {
  const [, , chain = '', named] = subject.split('.');
  if (named !== kind) return null;
  if (!/^[1-9]\d{0,19}$/.test(chain)) {
    return reject('malformed', `${subject} names no chain: expected a decimal chain ID`);
  }
  const decoded = decodeMessage(format, data);
  if ('rejection' in decoded) return decoded;
  return { value: { chainId: BigInt(chain), message: decoded.value } };
}
