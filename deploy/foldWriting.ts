import type { RowWriter } from '../storage/rowWriter.ts';
import type { RejectionLog } from '../streams/rejectionLog.ts';
import type { FollowedFold } from './streamFollower.ts';

/** What a fold hands on to, in a process that writes. */
export interface FoldWriting {
  readonly writer: RowWriter;
  readonly rejections: RejectionLog;
  /** Removes what was made from messages above a position: what waits, and what is stored. */
  readonly removeRowsAbove: (position: number) => Promise<void>;
}

/** The part of a fold that its rows and rejections decide; a read replica (null) has nothing to wait for. */
export function handedOn(writing: FoldWriting | null): Pick<FollowedFold, 'flushed' | 'removeAbove'> {
  return {
    async flushed() {
      if (writing === null) return true;
      return (await writing.writer.flushed()) && writing.rejections.flushed();
    },

    async removeAbove(position) {
      await writing?.removeRowsAbove(position);
      await writing?.rejections.resume();
    },
  };
}
