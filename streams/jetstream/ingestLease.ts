import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream';
import type { Logger } from 'pino';
import { z } from 'zod';
import { leaseSubject } from '../../actors/messages/subjects.ts';
import type { Clock } from '../../actors/views/clock.ts';
import { sleep } from './connection.ts';
import { isStreamMissing } from './ensureStreams.ts';

const renewalMs = 1_000;
const answerMs = 1_000;
/** The holder writes for so long after the last renewal that succeeded had begun, */
const heldMs = 4_000;
/** and another process takes over when it has seen no renewal for so long, which is longer. */
const abandonedMs = 6_000;

/** The lease as it is published: whoever stored the newest message holds it. */
const leaseMessage = z.object({
  id: z.string(),
  /** Null once it was given back. */
  holder: z.object({ host: z.string(), pid: z.int(), pidSpace: z.string().nullable() }).nullable(),
});

/** A holder of which nothing is known. */
const unknownHolder = { host: 'unknown', pid: 0, pidSpace: null };

/** Who holds the lease, for logs and `/readyz`. */
export interface LeaseHolder {
  readonly host: string;
  readonly pid: number;
}

export interface HeldLease {
  /** Whether nobody else can hold it at this moment. */
  isHeld(): boolean;
  /** Rejects with {@link LeaseLost} when another process has taken over. */
  readonly lost: Promise<never>;
  /** Gives it back, so that a process that waits takes over at once. */
  release(): Promise<void>;
}

/** Another process ingests now. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';

  constructor(name: string, holder: LeaseHolder | null) {
    const who = holder === null ? 'another process' : `process ${holder.pid} on ${holder.host}`;
    super(
      `${who} has taken over the ingest of database ${name}, since this process did not renew its lease in time; ` +
        'start it again, and it waits as a standby',
    );
  }
}

export interface LeaseOptions {
  readonly js: JetStreamClient;
  readonly jsm: JetStreamManager;
  /** What is ingested into: one process at a time for each name. */
  readonly name: string;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Nobody has ever ingested under this name: without a message of its own the lease is free. */
  readonly isUnused: boolean;
  /** Called when the stream of the lease is missing. */
  readonly onMissing: () => Promise<void>;
  /** Called with the holder while this process waits as a standby, and with null once it does not any more. */
  readonly onStandby: (holder: LeaseHolder | null) => void;
}

/**
 * Waits until this process is the one that ingests. The lease is the newest message of one subject: its holder replaces it every
 * second, naming the message that it replaces, so two can never both succeed. Expiry is judged by what each process sees and by its own
 * monotonic clock; clocks need not agree. A holder that has ended on the same machine is replaced at once.
 */
export async function acquireLease(options: LeaseOptions): Promise<HeldLease> {
  const { js, jsm, name, clock, logger, signal, onStandby } = options;
  const subject = leaseSubject(name);
  const id = randomUUID();
  const self = { id, holder: { host: hostname(), pid: process.pid, pidSpace: pidSpace() } };

  /** Sequence of the message that now is the lease. */
  async function replace(sequence: number, message: z.infer<typeof leaseMessage>): Promise<number> {
    const { seq } = await js.publish(subject, JSON.stringify(message), {
      expect: { lastSubjectSequence: sequence },
      timeout: answerMs,
    });
    return seq;
  }

  async function newest() {
    const stored = await jsm.streams.getMessage('MINER_LEASE', { last_by_subj: subject });
    // Where the message is gone, whoever held the lease may not have noticed yet.
    if (stored === null) return { sequence: 0, id: null, holder: unknownHolder };
    const parsed = leaseMessage.safeParse(stored.json());
    return { sequence: stored.seq, ...(parsed.success ? parsed.data : { id: null, holder: unknownHolder }) };
  }

  async function wait(): Promise<{ sequence: number; atMs: number }> {
    let seen = { sequence: -1, sinceMs: 0 };
    let failures = 0;
    let isStandby = false;
    let hasSeenLease = false;
    for (;;) {
      signal.throwIfAborted();
      const atMs = clock.monotonicMs();
      try {
        const { sequence, holder } = await newest();
        // Nothing tells when the question was answered: the time without a renewal is counted from the end of the first one
        // to the beginning of the last one.
        if (sequence !== seen.sequence || failures > 0) seen = { sequence, sinceMs: clock.monotonicMs() };
        failures = 0;
        const isNew = sequence === 0 && options.isUnused && !hasSeenLease;
        hasSeenLease ||= sequence > 0;
        const isFree = isNew || holder === null || hasEnded(holder) || atMs - seen.sinceMs >= abandonedMs;
        if (isFree) {
          const replaced = await replace(sequence, self);
          if (isStandby) logger.warn({ holder, database: name }, 'the standby takes over the ingest');
          onStandby(null);
          return { sequence: replaced, atMs };
        }
        if (!isStandby)
          logger.warn({ holder, database: name }, 'another process ingests; this one waits as a standby');
        isStandby = true;
        onStandby(holder);
      } catch (error) {
        if (failures === 0) logger.warn({ err: error }, 'the ingest lease cannot be read or taken; retrying');
        failures++;
      }
      await sleep(renewalMs, signal);
    }
  }

  const acquired = await wait();
  let { sequence } = acquired;
  let renewedAtMs = acquired.atMs;
  const ending = new AbortController();
  /** The attempt under way. */
  let renewal: Promise<number> = Promise.resolve(sequence);

  async function renew(): Promise<never> {
    for (;;) {
      await sleep(renewalMs, ending.signal);
      if (ending.signal.aborted) return new Promise(() => undefined);
      const atMs = clock.monotonicMs();
      try {
        renewal = replace(sequence, self);
        sequence = await renewal;
        renewedAtMs = atMs;
      } catch (error) {
        // The outcome may be unknown: what is stored tells. A message of our own is ours whichever attempt stored it.
        const found = await newest().catch(async (unread: unknown) => {
          if (isStreamMissing(unread)) await options.onMissing().catch(() => undefined); // Tried again in a second.
          return null;
        });
        if (found === null || ending.signal.aborted) continue;
        if (found.id !== id && found.sequence !== 0) throw new LeaseLost(name, found.holder);
        sequence = found.sequence;
        logger.debug({ err: error }, 'the ingest lease was not renewed; retrying');
      }
    }
  }

  const lost = renew();
  lost.catch(() => undefined); // Whoever waits for it handles it; nobody has to.
  let isLost = false;
  lost.catch(() => {
    isLost = true;
  });
  return {
    isHeld: () => !isLost && !ending.signal.aborted && clock.monotonicMs() - renewedAtMs < heldMs,
    lost,
    release: async () => {
      ending.abort();
      sequence = await renewal.catch(() => sequence);
      // Without an answer the one that waits takes over a few seconds later.
      await replace(sequence, { id, holder: null }).catch(() => undefined);
    },
  };
}

/**
 * Whether a holder is a process that has ended, which only the same machine and the same space of process IDs can tell: a container
 * counts its own.
 */
function hasEnded({
  host,
  pid,
  pidSpace: space,
}: NonNullable<z.infer<typeof leaseMessage>['holder']>): boolean {
  if (space === null || host !== hostname() || space !== pidSpace() || pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/** Null where the system does not tell. */
function pidSpace(): string | null {
  try {
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${readlinkSync('/proc/self/ns/pid')}`;
  } catch {
    return null;
  }
}
