import { readFileSync } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import type { Rejection } from '../../actors/messages/decodeMessage.ts';
import type { StreamMessage } from '../../actors/messages/streamMessage.ts';
import { findInputStream, type InputStreamName } from '../../actors/messages/subjects.ts';
import { readErrorMessage } from '../../actors/readErrorMessage.ts';
import { nanosPerMillisecond } from '../../actors/schemas/durations.ts';
import type { Judge } from '../../streams/folds/streamDefinition.ts';
import { streamDefinitions } from '../../streams/folds/streamDefinitions.ts';
import type { JetStream } from '../../streams/nats/natsLink.ts';
import { readConfiguration } from '../configuration/configuration.ts';
import { readDeploymentFile } from '../configuration/deploymentFile.ts';
import { formatFinding } from '../diagnosis/finding.ts';
import { endCommand } from '../process/endCommand.ts';
import { connectForDiagnosis, openParts } from './runDoctor.ts';

/** Newest messages of the stream that are searched for earlier readings or module snapshots to compare with. */
const searchedMessagesMax = 10_000;

interface CheckMessageOptions {
  readonly subject: string;
  /** Null: standard input. */
  readonly file: string | null;
  /** Compares the message with those that the stream holds. */
  readonly isLive: boolean;
}

/** The command line's `check-message`. Exits with status 0 if the message is accepted, 1 if it is rejected, 2 if it cannot be checked. */
export async function runCheckMessage({ subject, file, isLive }: CheckMessageOptions): Promise<void> {
  try {
    const stream = findInputStream(subject);
    if (stream === null)
      throw new Error(`no stream takes ${subject}: expected a subject such as miner.counter.my~wheel`);
    const data = file === null ? await buffer(process.stdin) : readFileSync(file);
    const genesisMs = readGenesisMs();
    const message = { seq: 0, subject, data, timestampNanos: BigInt(Date.now()) * nanosPerMillisecond };
    const { judgeContent, judgeInOrder } = streamDefinitions[stream].rules;
    const judgeLive = async () => {
      if (judgeInOrder === null)
        throw new Error('--live cannot check messages of the chain: only the indexer publishes them');
      return checkLive(stream, message, judgeInOrder(genesisMs));
    };
    const rejection = judgeContent(genesisMs)(message) ?? (isLive ? await judgeLive() : null);
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

/** Why the service would reject the message if it were stored now; null if it would accept it. */
async function checkLive(
  stream: InputStreamName,
  message: StreamMessage,
  judge: Judge,
): Promise<Rejection | null> {
  const findings: string[] = [];
  const connection = await connectForDiagnosis(readConfiguration(process.env), (failed) => {
    findings.push(...failed.flatMap(formatFinding));
  });
  if (connection === null) throw new Error(findings.join('\n'));
  try {
    const parts = await openParts(connection);
    for await (const earlier of readSubject(parts, stream, message.subject)) judge(earlier);
    return judge(message);
  } finally {
    await connection.close();
  }
}

/**
 * Stored messages of a subject. Oracle, reporter and signer are compared with everything that they have said.
 *
 * @throws Error if the connection is closed before the last one.
 */
async function* readSubject({ js, jsm }: JetStream, stream: InputStreamName, subject: string) {
  const last = await jsm.streams.getMessage(stream, { last_by_subj: subject });
  if (last === null) return;
  const isNewestEnough = /^miner\.(?:counter|module)\./.test(subject);
  const first = isNewestEnough ? Math.max(1, last.seq - searchedMessagesMax) : 1;
  const consumer = await js.consumers.get(stream, { filter_subjects: subject, opt_start_seq: first });
  for await (const message of await consumer.consume()) {
    yield message;
    if (message.info.pending === 0) return;
  }
  // The messages of a closed connection end as if there were no more.
  throw new Error('NATS closed the connection before all earlier messages were read');
}
