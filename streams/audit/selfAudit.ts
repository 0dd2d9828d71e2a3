import type { Logger } from 'pino';
import { Counter, Gauge, type Registry } from 'prom-client';
import { exhaustMap, from, ignoreElements, interval, type Observable } from 'rxjs';
import type { ChainState } from '../../actors/chain/state/chainState.ts';
import type { SnapshotStore } from '../../storage/snapshots/snapshots.ts';
import { type Audit, type AuditKind, auditKinds, auditOutcomes } from './audit.ts';
import type { BlockAudit } from './auditBlock.ts';
import {
  auditHalfHour,
  findHalfHour,
  type HalfHourAuditOptions,
  type HalfHourSample,
} from './auditHalfHour.ts';

/** Known differences, each compared again at every audit until it agrees. Further ones are found later. */
const driftsMax = 16;
/** Samples that one audit tries: a message may be rejected, or its half hour still open. */
const attemptsMax = 4;
/** A node keeps the states of about the newest 128 blocks, and the newest safe one is twelve below its tip. */
const sampledStates = 64;
/** Half of the samples are among this many newest messages, whose readings are also in memory. */
const recentMessages = 20_000;

/** A stored or shown value that differs from its source. */
export interface Drift {
  readonly kind: AuditKind;
  readonly about: string;
  readonly differences: readonly string[];
  readonly repair: string;
}

/** Compares samples of the stored and shown values with their source. */
export interface SelfAudit {
  /** Compares one half hour, one safe block and all known differences. */
  sample(): Promise<void>;
  /** Differences that are known at the moment. */
  drifts(): Drift[];
}

interface SelfAuditOptions extends HalfHourAuditOptions {
  readonly snapshots: Pick<SnapshotStore, 'list'>;
  /** States at safe blocks, ascending. */
  readonly safeStates: () => readonly ChainState[];
  /** Null without a node. */
  readonly blockAudit: BlockAudit | null;
  readonly random: () => number;
  readonly logger: Logger;
}

type AuditCounts = ReturnType<typeof registerAuditMetrics>;

export function registerAuditMetrics(registry: Registry, drifts: () => readonly Drift[]) {
  const samples = new Counter({
    name: 'miner_audit_samples_total',
    help: 'Half hours and safe blocks compared with their source, by outcome: `skipped` if no comparison was possible.',
    labelNames: ['kind', 'outcome'],
    registers: [registry],
  });
  for (const kind of auditKinds) for (const outcome of auditOutcomes) samples.inc({ kind, outcome }, 0);
  new Gauge({
    name: 'miner_audit_drifts',
    help: 'Half hours and safe blocks known to differ from their source.',
    labelNames: ['kind'],
    registers: [registry],
    collect() {
      for (const kind of auditKinds)
        this.set({ kind }, drifts().filter((drift) => drift.kind === kind).length);
    },
  });
  return {
    compared: (kind: AuditKind, outcome: (typeof auditOutcomes)[number]) => samples.inc({ kind, outcome }),
  };
}

export function createSelfAudit(options: SelfAuditOptions, counts: AuditCounts): SelfAudit {
  const { snapshots, safeStates, blockAudit, random, jsm, logger } = options;
  const halfHours = new Map<string, { readonly drift: Drift; readonly sample: HalfHourSample }>();
  const blocks = new Map<string, { readonly drift: Drift; readonly sample: bigint }>();

  /** Kinds whose last sample could not be compared. */
  const failing = new Set<AuditKind>();

  function note<Sample>(
    kind: AuditKind,
    known: Map<string, { readonly drift: Drift; readonly sample: Sample }>,
    audit: Audit<Sample>,
  ): void {
    counts.compared(kind, audit.outcome);
    if (audit.outcome !== 'drift') return;
    const { about, differences, repair, key, sample } = audit;
    if (!known.has(key)) {
      logger.error(
        { about, differences, repair },
        'stored or shown values differ from their source; `repair` is the command that corrects them',
      );
      if (known.size >= driftsMax) return;
    }
    known.set(key, { sample, drift: { kind, about, differences, repair } });
  }

  /** Forgets a difference that agrees again, or that can no longer be compared. */
  function forgetResolved<Sample>(
    known: Map<string, { readonly sample: Sample }>,
    key: string,
    { outcome, about }: Audit<Sample>,
  ) {
    if (outcome === 'drift') return;
    known.delete(key);
    logger.info(
      { about },
      outcome === 'agrees'
        ? 'a known difference no longer exists'
        : 'a known difference can no longer be compared',
    );
  }

  async function sampleHalfHour() {
    const [newest] = await snapshots.list('MINER_COUNTER');
    if (newest === undefined) return;
    // The rows that a snapshot covers are stored before it is.
    const storedThrough = newest.position;
    for (const [key, { sample }] of [...halfHours])
      forgetResolved(halfHours, key, await auditHalfHour(options, sample, storedThrough));
    const { state } = await jsm.streams.info('MINER_COUNTER');
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const first =
        random() < 0.5 ? state.first_seq : Math.max(state.first_seq, storedThrough - recentMessages);
      if (first > storedThrough) return;
      const sequence = first + Math.floor(random() * (storedThrough - first + 1));
      const sample = await findHalfHour(options, sequence);
      const audit =
        sample === null
          ? ({ outcome: 'skipped', about: `message ${sequence}` } as const)
          : await auditHalfHour(options, sample, storedThrough);
      note('half_hour', halfHours, audit);
      if (audit.outcome !== 'skipped') return;
    }
  }

  async function sampleBlock() {
    if (blockAudit === null) return;
    const states = safeStates().slice(-sampledStates);
    for (const [key, { sample }] of [...blocks]) {
      const state = safeStates().find(({ block }) => block.number === sample);
      const audit: Audit<bigint> =
        state === undefined ? { outcome: 'skipped', about: `block ${sample}` } : await blockAudit(state);
      forgetResolved(blocks, key, audit);
    }
    const state = states[Math.floor(random() * states.length)];
    if (state !== undefined) note('safe_block', blocks, await blockAudit(state));
  }

  async function attempt(kind: AuditKind, compare: () => Promise<void>) {
    try {
      await compare();
      failing.delete(kind);
    } catch (error) {
      counts.compared(kind, 'skipped');
      if (!failing.has(kind))
        logger.warn(
          { err: error, kind },
          'a sample cannot be compared; the next audit continues with another one',
        );
      failing.add(kind);
    }
  }

  return {
    sample: async () => {
      await attempt('half_hour', sampleHalfHour);
      await attempt('safe_block', sampleBlock);
    },
    drifts: () => [...halfHours.values(), ...blocks.values()].map(({ drift }) => drift),
  };
}

/** Compares a sample at each interval while subscribed; emits nothing. */
export function runSelfAudit(audit: SelfAudit, everySeconds: number): Observable<never> {
  return interval(everySeconds * 1000).pipe(
    exhaustMap(() => from(audit.sample())),
    ignoreElements(),
  );
}
