import { decodeFields, encodeFields } from '../../opaqueCursor.ts';

/** Which list a cursor is of: one of another does not work here (CONTRACT.md, Cursors). */
export type OwnerList = 'portfolio' | 'activity';

/** Where an owner's next page begins, in the state of the block that the first page was read at. */
export interface OwnerCursor {
  readonly list: OwnerList;
  readonly block: bigint;
  readonly blockHash: string;
  readonly owner: string;
  /** The last token ID, or how many events have been shown. */
  readonly after: number;
}

export function encodeOwnerCursor({ list, block, blockHash, owner, after }: OwnerCursor): string {
  return encodeFields([list, block.toString(), blockHash, owner, after]);
}

/** Null for an invalid cursor. */
export function decodeOwnerCursor(text: string): OwnerCursor | null {
  const [list, block, blockHash, owner, after] = decodeFields(text, 5) ?? [];
  const isValid =
    (list === 'portfolio' || list === 'activity') &&
    typeof block === 'string' &&
    /^(?:0|[1-9]\d{0,19})$/.test(block) &&
    typeof blockHash === 'string' &&
    typeof owner === 'string' &&
    typeof after === 'number' &&
    Number.isSafeInteger(after) &&
    after > 0;
  if (!isValid) return null;
  return { list, block: BigInt(block), blockHash, owner, after };
}
