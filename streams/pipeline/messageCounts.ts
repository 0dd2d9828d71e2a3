import { Counter, type Registry } from 'prom-client';
import { type RejectionReason, rejectionReasons } from '../../actors/messages/rejectionReasons.ts';
import { type InputStreamName, inputStreamNames } from '../../actors/messages/subjects.ts';

export type MessageCounts = ReturnType<typeof createMessageCounts>;

export function createMessageCounts(registry: Registry) {
  const messages = new Counter({
    name: 'miner_messages_total',
    help: 'Messages read from a stream, by outcome.',
    labelNames: ['stream', 'outcome'],
    registers: [registry],
  });
  const rejections = new Counter({
    name: 'miner_messages_rejected_total',
    help: 'Rejected messages, by the first rule that they broke.',
    labelNames: ['stream', 'reason'],
    registers: [registry],
  });
  for (const stream of inputStreamNames) {
    for (const outcome of ['accepted', 'rejected', 'unread']) messages.inc({ stream, outcome }, 0);
    for (const reason of rejectionReasons) rejections.inc({ stream, reason }, 0);
  }
  return {
    accepted: (stream: InputStreamName, count: number) =>
      messages.inc({ stream, outcome: 'accepted' }, count),
    /** Counts a message of a kind that no view reads. */
    unread: (stream: InputStreamName) => messages.inc({ stream, outcome: 'unread' }),
    rejected: (stream: InputStreamName, reason: RejectionReason) => {
      messages.inc({ stream, outcome: 'rejected' });
      rejections.inc({ stream, reason });
    },
  };
}
