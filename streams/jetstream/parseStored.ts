import type { z } from 'zod';
import type { StreamMessage } from '../../actors/messages/streamMessage.ts';

/** Parses the body of a stored message; null for one of another publisher, or with a value of a later version. */
export function parseStored<Schema extends z.ZodType>(
  schema: Schema,
  { data }: StreamMessage,
): z.infer<Schema> | null {
  try {
    return schema.parse(JSON.parse(new TextDecoder().decode(data)));
  } catch {
    return null;
  }
}
