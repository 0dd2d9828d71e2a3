/** Consecutive messages of a stream that are folded together. */
export interface MessageRange {
  readonly fromSequence: number;
  readonly throughSequence: number;
}

export interface RangesToCut {
  /** Everything through this sequence is folded. */
  readonly after: number;
  readonly through: number;
  /** No range holds messages from both sides of this one. */
  readonly fromSequence: number;
  readonly messagesMax: number;
}

/** The messages after one sequence through another, in ranges that follow one another. */
export function cutRanges({ after, through, fromSequence, messagesMax }: RangesToCut): MessageRange[] {
  const ranges: MessageRange[] = [];
  for (let from = after + 1; from <= through; ) {
    const border = from < fromSequence ? fromSequence - 1 : through;
    const last = Math.min(from + messagesMax - 1, border, through);
    ranges.push({ fromSequence: from, throughSequence: last });
    from = last + 1;
  }
  return ranges;
}
