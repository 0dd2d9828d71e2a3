import type { RejectionLog } from '../../streams/jetstream/rejectionLog.ts';

/** Takes rejections and publishes none. */
export const noRejections: RejectionLog = {
  resume: async () => undefined,
  add: () => undefined,
  hasRoom: () => true,
  room: async () => undefined,
  flushed: async () => true,
  waiting: 0,
  failures: 0,
  close: async () => undefined,
};
