/** Which list a cursor is of: one of another does not work here (document 2, A9). */
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

const version = 1;

export function encodeOwnerCursor({ list, block, blockHash, owner, after }: OwnerCursor): string {
  return Buffer.from(JSON.stringify([version, list, block.toString(), blockHash, owner, after])).toString(
    'base64url',
  );
}

/** Null for anything that {@link encodeOwnerCursor} has not made. */
export function decodeOwnerCursor(text: string): OwnerCursor | null {
  let fields: unknown;
  try {
    fields = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return null;
  }
  if (!Array.isArray(fields) || fields.length !== 6 || fields[0] !== version) return null;
  const [, list, block, blockHash, owner, after] = fields as unknown[];
  const isWhole =
    (list === 'portfolio' || list === 'activity') &&
    typeof block === 'string' &&
    /^(?:0|[1-9]\d{0,19})$/.test(block) &&
    typeof blockHash === 'string' &&
    typeof owner === 'string' &&
    Number.isSafeInteger(after) &&
    (after as number) > 0;
  if (!isWhole) return null;
  const cursor: OwnerCursor = { list, block: BigInt(block), blockHash, owner, after: after as number };
  return encodeOwnerCursor(cursor) === text ? cursor : null;
}
