import type { RowWriter } from '../storage/rowWriter.ts';
import type { RejectionLog } from './jetstream/rejectionLog.ts';
import type { FollowedFold } from './streamFollower.ts';

/** What a fold hands on to, in a process that writes. */
export interface FoldWriting {
  readonly writer: RowWriter;
  readonly rejections: RejectionLog;
  /** Whether the newest stored row was made from a message that the stream does not hold. */
  readonly isStoredElsewise?: () => Promise<boolean>;
  /** Removes the stored rows that were made from messages above a position. */
  readonly removeRowsAbove: (position: number) => Promise<void>;
}

/** The part of a fold that its rows and rejections decide; a read replica (null) has nothing to wait for. */
export function handedOn(
  writing: FoldWriting | null,
): Pick<FollowedFold, 'flushed' | 'rewind' | 'isStoredElsewise' | 'removeAbove'> {
  const isStoredElsewise = writing?.isStoredElsewise;
  return {
    ...(isStoredElsewise && { isStoredElsewise }),

    async flushed() {
      if (writing === null) return true;
      return (await writing.writer.flushed()) && writing.rejections.flushed();
    },

    async rewind(position) {
      await writing?.writer.rewind(position);
      await writing?.rejections.resume();
    },

    async removeAbove(position) {
      await writing?.removeRowsAbove(position);
    },
  };
}
