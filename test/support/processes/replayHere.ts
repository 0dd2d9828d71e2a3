import { vi } from 'vitest';
import { type InputStreamName, inputStreamNames } from '../../../actors/messages/subjects.ts';
import { replay } from '../../../deploy/commands/replay/replay.ts';
import { prepareReplay } from '../../../deploy/commands/replay/replayOptions.ts';
import type { Database } from '../../../storage/clickhouse/database.ts';
import type { StreamPort } from '../../../streams/nats/streamPort.ts';
import { silentLogger } from '../silentLogger.ts';
import { readDeployment } from './minerProcess.ts';

interface ReplayedHere {
  readonly database: Database;
  readonly jetStream: StreamPort;
  readonly environment: Readonly<Record<string, string>>;
  readonly streams?: readonly InputStreamName[];
}

/** Does in this process what `miner replay --dry-run` does, without its progress on the error stream. Returns what it prints. */
export async function replayHere({
  environment,
  streams = inputStreamNames,
  ...given
}: ReplayedHere): Promise<string> {
  let printed = '';
  const options = {
    ...given,
    dryRun: true,
    logger: silentLogger,
    deployment: readDeployment(environment),
    signal: new AbortController().signal,
    print: (line: string) => {
      printed += `${line}\n`;
    },
  };
  const hidden = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  try {
    await prepareReplay(options);
    await replay(options, { streams, from: { sequence: 1 } });
  } finally {
    hidden.mockRestore();
  }
  return printed;
}
