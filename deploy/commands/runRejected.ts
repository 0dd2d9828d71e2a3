import { concatMap, interval, lastValueFrom } from 'rxjs';
import {
  formatRejection,
  readLaterRejections,
  readNewestRejections,
} from '../../streams/pipeline/newestRejections.ts';
import type { RejectionMessage } from '../../streams/pipeline/rejectionLog.ts';
import { readConfiguration } from '../configuration/configuration.ts';
import { formatFinding } from '../diagnosis/finding.ts';
import { connectForDiagnosis, openParts } from './runDoctor.ts';

const followMs = 1_000;

interface RejectedOptions {
  readonly count: number;
  readonly reason: string | null;
  /** Waits for later rejections, until it is interrupted. */
  readonly isFollowing: boolean;
}

/** The command line's `rejected`: lists rejected messages and why. Exits with status 1 if NATS does not answer. */
export async function runRejected({ count, reason, isFollowing }: RejectedOptions): Promise<void> {
  const connection = await connectForDiagnosis(readConfiguration(process.env), (findings) => {
    process.stderr.write(`${findings.flatMap(formatFinding).join('\n')}\n`);
  });
  if (connection === null) {
    process.exitCode = 1;
    return;
  }
  const { jsm } = await openParts(connection);
  const print = (rejections: readonly RejectionMessage[]) => {
    for (const rejection of rejections)
      if (reason === null || rejection.reason === reason)
        process.stdout.write(`${formatRejection(rejection)}\n`);
  };
  try {
    let { rejections, end } = await readNewestRejections(jsm, { most: count, reason });
    print(rejections);
    if (rejections.length === 0) process.stderr.write('no message was rejected\n');
    if (!isFollowing) return;
    const later$ = interval(followMs).pipe(
      concatMap(async () => {
        ({ rejections, end } = await readLaterRejections(jsm, end));
        print(rejections);
      }),
    );
    await lastValueFrom(later$);
  } finally {
    await connection.close();
  }
}
