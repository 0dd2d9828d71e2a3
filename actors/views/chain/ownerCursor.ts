import { z } from 'zod';
import { decodeFields, encodeFields } from '../../feed/opaqueCursor.ts';

/** Lists with cursors. A cursor works only for its own list (CONTRACT.md, Cursors). */
const ownerLists = ['portfolio', 'activity'] as const;
export type OwnerList = (typeof ownerLists)[number];

/** Start of an owner's next page, in the state at which the first page was read. */
export interface OwnerCursor {
  readonly list: OwnerList;
  readonly block: bigint;
  readonly blockHash: string;
  readonly owner: string;
  /** The last token ID, or the number of events already shown. */
  readonly after: number;
}

export function encodeOwnerCursor({ list, block, blockHash, owner, after }: OwnerCursor): string {
  return encodeFields([list, block.toString(), blockHash, owner, after]);
}

const cursorFields = z.tuple([
  z.enum(ownerLists),
  z.string().regex(/^(?:0|[1-9]\d{0,19})$/),
  z.string(),
  z.string(),
  z.int().min(1),
]);

export function decodeOwnerCursor(text: string): OwnerCursor | null {
  const fields = decodeFields(text, cursorFields);
  if (fields === null) return null;
  const [list, block, blockHash, owner, after] = fields;
  return { list, block: BigInt(block), blockHash, owner, after };
}
