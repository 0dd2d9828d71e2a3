import type { Logger } from 'pino';
import { lastValueFrom, tap } from 'rxjs';
import { counterStream } from '../../../streams/folds/counterStream.ts';
import { startOfStream } from '../../../streams/jetstream/proofs/streamPosition.ts';
import {
  createStreamVerifier,
  type StreamVerifier,
} from '../../../streams/jetstream/proofs/streamVerifier.ts';
import { askUntilProven } from '../../../streams/jetstream/proofs/suspicions.ts';
import { createMessageSource } from '../../../streams/jetstream/source/messageSource.ts';
import type { JetStream } from '../../../streams/nats/natsLink.ts';
import { alwaysOpen } from '../../../streams/operators/gate.ts';
import type { BoundDeployment } from '../../configuration/configuration.ts';
import { type Finding, failed, ok, skipped } from '../../diagnosis/finding.ts';
import type { StoredCounts } from '../../diagnosis/inspectDatabase.ts';
import { createProgress } from '../../process/progress.ts';
import { systemClock } from '../../process/systemClock.ts';

const stream = 'MINER_COUNTER';

interface CheckReadingsOptions extends JetStream {
  readonly stored: StoredCounts;
  readonly deployment: BoundDeployment;
  readonly logger: Logger;
}

/** Folds the counter stream again, through the last stored reading, and compares the numbers of readings and rounds with the stored rows. */
export async function checkReadings(options: CheckReadingsOptions): Promise<Finding[]> {
  const { jsm, stored } = options;
  if (stored.through === 0) return [skipped('readings', 'ClickHouse holds none yet')];
  const verifier = createStreamVerifier({ jsm, stream, clock: systemClock });
  const { lastSequence, hasLostEnd } = await askUntilProven(async () => {
    const answer = await verifier.ask();
    const lastSequence = answer.info.state.last_seq;
    const claim = `${stream} no longer has message ${stored.through} whose rows are stored`;
    const isConfirmed = lastSequence < stored.through;
    return { lastSequence, hasLostEnd: verifier.isProven(answer, { claim, isConfirmed }) };
  });
  if (hasLostEnd) {
    const detail = `ClickHouse holds readings through ${stored.through}, the stream ends at ${lastSequence}`;
    return [
      failed(
        'readings',
        detail,
        'the stream lost its end or was replaced; start the service, which recovers and logs the reason',
      ),
    ];
  }
  const folded = await foldThrough(options, verifier);
  const findings = [compareCounts('readings', folded.readings, stored.readings)];
  if (stored.firstSequence > 1) {
    const detail = `the stream begins at ${stored.firstSequence}: rounds before it cannot be folded again`;
    return [...findings, skipped('rounds', detail)];
  }
  return [...findings, compareCounts('rounds', folded.rounds, stored.rounds)];
}

function compareCounts(what: string, inStream: number, inClickHouse: number): Finding {
  if (inStream === inClickHouse) return ok(what, `${inStream} in the stream and in ClickHouse`);
  return failed(
    what,
    `${inStream} in the stream, ${inClickHouse} in ClickHouse`,
    'rebuild it from the stream: `npm run miner -- replay --from-sequence 1`, with --dry-run first to see what changes',
  );
}

async function foldThrough(options: CheckReadingsOptions, verifier: StreamVerifier) {
  const { through, firstSequence, oldestMs } = options.stored;
  const actors = counterStream.createActors(options.deployment);
  const counts = { readings: 0, rounds: 0 };
  const progress = createProgress({ label: 'readings', unit: 'messages', total: through });
  const source = createMessageSource({
    ...options,
    stream,
    verifier,
    clock: systemClock,
    through,
  });
  await lastValueFrom(
    source.batchesAfter(startOfStream, alwaysOpen).pipe(
      tap(({ messages, position }) => {
        for (const message of messages) {
          const outcome = actors.receive(message);
          if ('rejection' in outcome) continue;
          const { reading, closed } = outcome.output;
          const fromMs = oldestMs ?? Number.NEGATIVE_INFINITY;
          // Messages may have left the stream, and others may leave it before they are read here.
          if (reading.position < firstSequence) continue;
          if (reading.receivedAtMs >= fromMs) counts.readings++;
          if (closed.round !== null && closed.round.startMs >= fromMs) counts.rounds++;
        }
        progress.update(position);
      }),
    ),
    { defaultValue: null },
  );
  progress.stop();
  return counts;
}
