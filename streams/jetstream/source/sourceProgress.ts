/** How far the source of a stream has come. */
export interface SourceCounts {
  /** Last sequence of the stream; null while it is not known. */
  readonly lastSequence: number | null;
  /** Last sequence that was emitted. */
  readonly position: number;
  /** Messages that retention, a purge or a deletion removed before they were read. */
  readonly missedMessages: number;
  /** How often consumption was interrupted and restarted with a verification. */
  readonly interruptions: number;
  /**
   * Everything that the stream held at this time is emitted (`Clock.bootMs`, which counts the time of a suspended machine). Null while
   * unknown. It stands still while the stream cannot be read or is read too slowly.
   */
  readonly freshAsOfMs: number | null;
  /** When the stream was last verified to be the followed one (`Clock.bootMs`); null before the first time. */
  readonly verifiedAtMs: number | null;
}

export type SourceProgress = ReturnType<typeof createSourceProgress>;

export function createSourceProgress() {
  let counts: SourceCounts = {
    lastSequence: null,
    position: 0,
    missedMessages: 0,
    interruptions: 0,
    freshAsOfMs: null,
    verifiedAtMs: null,
  };
  /** An end of the stream that is not reached yet, and when it was observed. */
  let seenEnd: { readonly sequence: number; readonly atMs: number } | null = null;

  const update = (change: Partial<SourceCounts>) => {
    counts = { ...counts, ...change };
  };

  return {
    get counts() {
      return counts;
    },
    /** Another subscription begins. */
    restartAfter: (position: number) => {
      update({ position, freshAsOfMs: null });
      seenEnd = null;
    },
    verifiedAt: (verifiedAtMs: number) => update({ verifiedAtMs }),
    /** Everything through `position` is emitted. Returns whether that is the last known end of the stream. */
    advance: (position: number) => {
      const { lastSequence } = counts;
      update({ position, lastSequence: lastSequence === null ? null : Math.max(lastSequence, position) });
      if (seenEnd === null || position < seenEnd.sequence) return false;
      update({ freshAsOfMs: seenEnd.atMs });
      seenEnd = null;
      return true;
    },
    /** The last requested message is not in the stream, and no other requested one follows. */
    skipTo: (position: number) => update({ position }),
    /** The stream ended with `sequence` at a time (`Clock.bootMs`). Returns whether everything is emitted. */
    noteEnd: (sequence: number, atMs: number) => {
      update({ lastSequence: Math.max(sequence, counts.position) });
      if (counts.position < sequence) {
        seenEnd ??= { sequence, atMs };
        return false;
      }
      update({ freshAsOfMs: atMs });
      seenEnd = null;
      return true;
    },
    /** The end of the stream is no longer known. */
    forgetEnd: () => update({ lastSequence: null }),
    isAtEnd: () => counts.lastSequence !== null && counts.position >= counts.lastSequence,
    addMissed: (messages: number) => update({ missedMessages: counts.missedMessages + messages }),
    addInterruption: () => update({ interruptions: counts.interruptions + 1, lastSequence: null }),
  };
}
