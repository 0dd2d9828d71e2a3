import { concatMap, interval, lastValueFrom } from 'rxjs';
import { readErrorMessage } from '../../actors/readErrorMessage.ts';
import type { StreamPort } from '../../streams/nats/streamPort.ts';
import {
  formatRejection,
  readLaterRejections,
  readNewestRejections,
} from '../../streams/pipeline/newestRejections.ts';
import type { RejectionMessage } from '../../streams/pipeline/rejectionLog.ts';
import { readConfiguration } from '../configuration/configuration.ts';
import { failed, formatFinding } from '../diagnosis/finding.ts';
import { endCommand } from '../process/endCommand.ts';
import { connectForDiagnosis } from './connectForDiagnosis.ts';

const followMs = 1_000;

interface RejectedOptions {
  readonly count: number;
  readonly reason: string | null;
  /** Waits for later rejections, until it is interrupted. */
  readonly isFollowing: boolean;
}

/** The command line's `rejected`: lists rejected messages and why. Exits with status 1 if NATS or its stream does not answer. */
export async function runRejected(options: RejectedOptions): Promise<void> {
  const { jetStream, finding } = await connectForDiagnosis(readConfiguration(process.env), {
    reconnect: options.isFollowing,
  });
  try {
    if (jetStream !== null) await listRejected(jetStream, options);
    else if (finding !== null) process.stderr.write(formatFinding(finding));
    endCommand(jetStream === null ? 1 : 0);
  } catch (error) {
    const remedy = '`miner doctor` checks the server and its streams';
    process.stderr.write(formatFinding(failed('NATS', readErrorMessage(error), remedy)));
    endCommand(1);
  }
}

async function listRejected(
  jetStream: StreamPort,
  { count, reason, isFollowing }: RejectedOptions,
): Promise<void> {
  const print = (rejections: readonly RejectionMessage[]) => {
    for (const rejection of rejections)
      if (reason === null || rejection.reason === reason)
        process.stdout.write(`${formatRejection(rejection)}\n`);
  };
  const newest = await readNewestRejections(jetStream, { most: count, reason });
  print(newest.rejections);
  if (newest.rejections.length === 0) {
    const which = reason === null ? '' : ` as ${reason}, among the newest ${newest.searched}`;
    process.stderr.write(`no message was rejected${which}\n`);
  }
  if (!isFollowing) return;
  let { end } = newest;
  let isAway = false;
  const later$ = interval(followMs).pipe(
    concatMap(async () => {
      try {
        const later = await readLaterRejections(jetStream, end);
        end = later.end;
        isAway = false;
        print(later.rejections);
      } catch (error) {
        if (!isAway) process.stderr.write(`waiting for NATS: ${readErrorMessage(error)}\n`);
        isAway = true;
      }
    }),
  );
  await lastValueFrom(later$);
}
