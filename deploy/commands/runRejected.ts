import { readErrorMessage } from '../../actors/readErrorMessage.ts';
import { formatRejection, readNewestRejections } from '../../streams/pipeline/newestRejections.ts';
import { readConfiguration } from '../configuration/configuration.ts';
import { failed, formatFinding } from '../diagnosis/finding.ts';
import { endCommand } from '../process/endCommand.ts';
import { connectForDiagnosis } from './connectForDiagnosis.ts';

interface RejectedOptions {
  readonly count: number;
  readonly reason: string | null;
}

/** The command line's `rejected`: lists rejected messages and why. Exits with status 1 if NATS or its stream does not answer. */
export async function runRejected({ count, reason }: RejectedOptions): Promise<void> {
  const { jetStream, finding } = await connectForDiagnosis(readConfiguration(process.env));
  if (jetStream === null) {
    if (finding !== null) process.stderr.write(formatFinding(finding));
    return endCommand(1);
  }
  try {
    const { rejections, searched } = await readNewestRejections(jetStream, { most: count, reason });
    for (const rejection of rejections) process.stdout.write(`${formatRejection(rejection)}\n`);
    if (rejections.length === 0) {
      const which = reason === null ? '' : ` as ${reason}, among the newest ${searched}`;
      process.stderr.write(`no message was rejected${which}\n`);
    }
    endCommand(0);
  } catch (error) {
    const remedy = '`miner doctor` checks the server and its streams';
    process.stderr.write(formatFinding(failed('NATS', readErrorMessage(error), remedy)));
    endCommand(1);
  }
}
