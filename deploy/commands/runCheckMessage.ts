import { readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import { findInputStream } from '../../actors/messages/subjects.ts';
import { readErrorMessage } from '../../actors/readErrorMessage.ts';
import { nanosPerMillisecond } from '../../actors/schemas/durations.ts';
import type { ReadingBounds } from '../../actors/wheel/decodeCounter.ts';
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
    const bounds = readBounds();
    const message = { seq: 0, subject, data, timestampNanos: BigInt(Date.now()) * nanosPerMillisecond };
    const rejection = streamDefinitions[stream].judgeContent(bounds ?? { genesisMs: 0 })(message);
    const unjudged = Object.entries(judgedByDeployment).find(([kind]) => subject.startsWith(kind))?.[1];
    if (bounds === null && unjudged !== undefined)
      process.stderr.write(`not judged: ${unjudged}, since MINER_DEPLOYMENT names no deployment file\n`);
    process.stdout.write(rejection === null ? 'accepted\n' : `${rejection.reason}: ${rejection.detail}\n`);
    endCommand(rejection === null ? 0 : 1);
  } catch (error) {
    process.stderr.write(`${readErrorMessage(error)}\n`);
    endCommand(2);
  }
}

/** Rules that need the deployment file, by the beginning of subjects. */
const judgedByDeployment: Readonly<Record<string, string>> = {
  'miner.counter.': 'whether the time is too long before round 1, and the speed above its maximum',
  'miner.oracle.': 'whether closed rounds have ended',
};

/** Null if no deployment file is named. */
function readBounds(): ReadingBounds | null {
  const { MINER_DEPLOYMENT: path } = readConfiguration(process.env);
  if (path === null) return null;
  const { genesisTimestamp, maximumSpeedMmPerSecond } = readDeploymentFile(path);
  return { genesisMs: genesisTimestamp * 1000, maximumSpeedMmPerSecond };
}
