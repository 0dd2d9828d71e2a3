import { readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { findInputStream } from '../../actors/messages/subjects.ts';
import { readErrorMessage } from '../../actors/readErrorMessage.ts';
import { nanosPerMillisecond } from '../../actors/schemas/durations.ts';
import { streamDefinitions } from '../../streams/definitions/streamDefinitions.ts';
import { readConfiguration } from '../configuration/configuration.ts';
import { readDeploymentFile } from '../configuration/deploymentFile.ts';
import { endCommand } from '../process/endCommand.ts';

interface CheckMessageOptions {
  readonly subject: string;
  /** Null: standard input. */
  readonly file: string | null;
}

/** The command line's `check-message`. Exits with status 0 if the message is accepted, 1 if it is rejected, 2 if it cannot be checked. */
export async function runCheckMessage({ subject, file }: CheckMessageOptions): Promise<void> {
  try {
    const stream = findInputStream(subject);
    if (stream === null)
      throw new Error(`no stream takes ${subject}: expected a subject such as miner.counter.my~wheel`);
    const data = file === null ? await buffer(process.stdin) : readFileSync(file);
    const genesisMs = readGenesisMs();
    const message = { seq: 0, subject, data, timestampNanos: BigInt(Date.now()) * nanosPerMillisecond };
    const rejection = streamDefinitions[stream].judgeContent(genesisMs)(message);
    if (genesisMs === 0 && subject.startsWith('miner.oracle.'))
      process.stderr.write(
        'not judged: whether closed rounds have ended, since MINER_DEPLOYMENT names no deployment file\n',
      );
    process.stdout.write(rejection === null ? 'accepted\n' : `${rejection.reason}: ${rejection.detail}\n`);
    endCommand(rejection === null ? 0 : 1);
  } catch (error) {
    process.stderr.write(`${readErrorMessage(error)}\n`);
    endCommand(2);
  }
}

/** Start of round 1 (epoch milliseconds) if a deployment file is named; otherwise the earliest that a deployment can have. */
function readGenesisMs(): number {
  const { MINER_DEPLOYMENT: path } = readConfiguration(process.env);
  return path === null ? 0 : readDeploymentFile(path).genesisTimestamp * 1000;
}
