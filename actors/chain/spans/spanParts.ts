import { z } from 'zod';
import type { Inferred } from '../../../machines/inferred.ts';
import { requireValue } from '../../../machines/requireValue.ts';
import { type Rejection, reject } from '../../messages/decodeMessage.ts';
import { type ChainSpan, chainLog, chainSpan, isAscendingByIndex } from './chainSpan.ts';

/** The logs so far of a block whose last part has not arrived yet. */
export const spanParts = z.strictObject({
  /** The newest part. */
  span: chainSpan,
  logs: z.array(chainLog),
});
type SpanParts = Inferred<typeof spanParts>;

/** A complete span, the parts so far, or why a part cannot be joined. */
type JoinedSpan =
  | { readonly complete: ChainSpan }
  | { readonly parts: SpanParts }
  | { readonly rejection: Rejection };

/** Joins the parts of a block with more logs than fit into one message. The block is folded once its last part has arrived. */
export function joinParts(before: SpanParts | null, span: ChainSpan): JoinedSpan {
  const { part } = span;
  if (part === null) return { complete: span };
  const block = requireValue(span.blocks[0], 'the block of a part');
  const isFirst = part.index === 0;
  const isNext = before?.span.part?.index === part.index - 1 && before.span.blocks[0]?.hash === block.hash;
  if (!isFirst && !isNext)
    return reject('unlinked_span', `part ${part.index} of block ${span.toBlock} has no part before it`);
  const logs = [...(isFirst ? [] : (before?.logs ?? [])), ...block.logs];
  if (part.index < part.count - 1) return { parts: { span, logs } };
  if (!isAscendingByIndex(logs))
    return reject('malformed', `the parts of block ${span.toBlock} have logs in common`);
  return { complete: { ...span, part: null, blocks: [{ ...block, logs }] } };
}
