import type { JetStreamManager } from '@nats-io/jetstream';
import { type StreamName, streamNames, streamSubjects } from '../../../actors/messages/subjects.ts';

/** Creates streams as an operator may: without bounds, and with messages that can be removed by hand. */
export async function createRemovableStreams(
  jsm: JetStreamManager,
  names: readonly StreamName[] = streamNames,
): Promise<void> {
  for (const name of names) await jsm.streams.add({ name, subjects: streamSubjects[name] });
}
