import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { Logger } from 'pino';
import { fromPromise, type SnapshotFrom } from 'xstate';
import { z } from 'zod';
import type { Clock } from '../../actors/clock.ts';
import { leaseSubject } from '../../actors/messages/subjects.ts';
import { readErrorCode } from '../../actors/readErrorCode.ts';
import type { ErrorKind } from '../../machines/failures.ts';
import type { LeaseHolder } from '../../machines/leaseMachine.ts';
import { leaseMachine } from '../../machines/leaseMachine.ts';
import { parseStored } from '../jetstream/parseStored.ts';
import type { StreamPort } from '../nats/streamPort.ts';

const answerMs = 1_000;
/** The holder may write for this long after its last successful renewal began. Another process waits longer before it takes over. */
const heldMs = 4_000;

/** A leader that was replaced may answer for this long after its successor has stored a message. */
const oldAnswerMs = 20_000;

/** The published lease: the process that stored the newest message holds it. */
const leaseMessage = z.object({
  id: z.string(),
  /** Null once it was released. */
  holder: z.object({ host: z.string(), pid: z.int(), pidSpace: z.string().nullable() }).nullable(),
});

const unknownHolder = { host: 'unknown', pid: 0, pidSpace: null };

/** Another process ingests now. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
  readonly kind: ErrorKind = 'leaseLost';

  constructor(name: string, holder: LeaseHolder | null) {
    const who = holder === null ? 'another process' : `process ${holder.pid} on ${holder.host}`;
    super(
      `${who} has taken over the ingest of database ${name}, since this process did not renew its lease in time; ` +
        'restart it, and it waits as a standby',
    );
  }
}

interface LeaseOptions {
  readonly jetStream: () => Pick<StreamPort, 'last' | 'append'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called when the stream of the lease is missing. */
  readonly onMissing: () => Promise<void>;
}

/**
 * The lease is the newest message of one subject. Its holder replaces it every second, naming the replaced message, so two processes
 * can never both succeed. Each process determines expiry by its own clock, which goes on while the machine is suspended; clocks need not
 * agree. A holder that has ended on the same machine is replaced at once.
 */
export function createLease({ jetStream, clock, logger, onMissing }: LeaseOptions): typeof leaseMachine {
  const id = randomUUID();
  const self = { id, holder: { host: hostname(), pid: process.pid, pidSpace: readPidSpace() } };

  /** The last acknowledged message of this process, and when it was acknowledged. */
  let stored = { sequence: 0, atMs: 0 };

  async function readNewest(name: string) {
    const message = await jetStream().last('MINER_LEASE', leaseSubject(name));
    // The message was removed, and the holder may not have noticed yet.
    if (message === null) return { sequence: 0, id: null, holder: unknownHolder };
    const lease = parseStored(leaseMessage, message) ?? { id: null, holder: unknownHolder };
    return { sequence: message.seq, ...lease };
  }

  return leaseMachine.provide({
    actors: {
      observe: fromPromise(async ({ input: { name } }) => {
        const askedAtMs = clock.bootMs();
        const newest = await readNewest(name);
        // The answer to a claim may be late: this process has the lease, and does not wait for itself.
        const holder = newest.id === id ? null : newest.holder;
        const hasHolderEnded = holder !== null && hasEnded(holder);
        return { sequence: newest.sequence, holder, hasHolderEnded, askedAtMs, answeredAtMs: clock.bootMs() };
      }),
      replace: fromPromise(async ({ input: { name, sequence, holds, sinceMs = clock.bootMs() } }) => {
        const message = JSON.stringify(holds ? self : { id, holder: null });
        const replaced = await jetStream().append(leaseSubject(name), sequence, [message], { answerMs });
        stored = { sequence: replaced, atMs: clock.bootMs() };
        return { sequence: replaced, sinceMs };
      }),
      // A message with the ID of this process is ours, whichever attempt stored it.
      verify: fromPromise(async ({ input: { name } }) => {
        const newest = await readNewest(name);
        const isOld = newest.sequence < stored.sequence && clock.bootMs() - stored.atMs < oldAnswerMs;
        if (newest.sequence !== 0 && isOld)
          throw new Error(`the server does not know message ${stored.sequence} of the lease yet`);
        if (newest.id !== id && newest.sequence !== 0) throw new LeaseLost(name, newest.holder);
        return newest.sequence;
      }),
      recreate: fromPromise(onMissing),
    },
    actions: {
      reportFailure: ({ context: { isFailing } }, { error }) => {
        if (!isFailing) logger.warn({ err: error }, 'the ingest lease cannot be read or taken; retrying');
      },
      reportStandby: ({ context: { name, observed } }) =>
        logger.warn(
          { holder: observed?.holder, database: name },
          'another process ingests; this one waits as a standby',
        ),
      reportTaken: ({ context: { name, observed } }, { wasStandby }) => {
        if (wasStandby)
          logger.warn({ holder: observed?.holder, database: name }, 'the standby takes over the ingest');
      },
      reportRenewalFailure: (_, { error }) =>
        logger.debug({ err: error }, 'the ingest lease was not renewed; retrying'),
    },
  });
}

type LeaseSnapshot = SnapshotFrom<typeof leaseMachine>;

/** Whether this process holds the lease now, according to its own clock. */
export function isLeaseHeld(lease: LeaseSnapshot | undefined, { bootMs }: Pick<Clock, 'bootMs'>): boolean {
  if (lease === undefined || !lease.hasTag('held')) return false;
  return bootMs() - lease.context.stored.sinceMs < heldMs;
}

/** The process that ingests while this one waits as a standby; null otherwise. */
export function findStandbyHolder(lease: LeaseSnapshot | undefined): LeaseHolder | null {
  return lease?.hasTag('standby') ? (lease.context.observed?.holder ?? null) : null;
}

/**
 * Whether the holder's process has ended. This can be known only on the same machine and in the same PID namespace; each container has
 * its own.
 */
export function hasEnded({
  host,
  pid,
  pidSpace: space,
}: NonNullable<z.infer<typeof leaseMessage>['holder']>): boolean {
  if (space === null || host !== hostname() || space !== readPidSpace() || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return readErrorCode(error) === 'ESRCH';
  }
}

/** Identifies the PID namespace; null if the system does not reveal it. */
function readPidSpace(): string | null {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return null;
  }
}
