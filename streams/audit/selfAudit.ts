import type { Logger } from 'pino';
import { Counter, type Registry } from 'prom-client';
import type { ChainState } from '../../actors/chain/state/chainState.ts';
import { registerMetrics } from '../../actors/registerMetrics.ts';
import { repeatEvery } from '../operators/repeatEvery.ts';
import type { Audit, BlockAudit, Drift } from './auditBlock.ts';

/** Known differences, each compared again at every audit until it agrees. Further ones are found later. */
const driftsMax = 16;
/** A node keeps the states of about the newest 128 blocks, and the newest safe one is twelve below its tip. */
const sampledStates = 64;

export type SelfAudit = ReturnType<typeof createSelfAudit>;

interface SelfAuditOptions {
  /** States at safe blocks, ascending. */
  readonly safeStates: () => readonly ChainState[];
  readonly auditBlock: BlockAudit;
  /** Time between two samples. */
  readonly everyMs: number;
  readonly random: () => number;
  readonly registry: Registry;
  readonly logger: Logger;
}

/** Compares samples of the state with the node. */
export function createSelfAudit(options: SelfAuditOptions) {
  const { safeStates, auditBlock, everyMs, random, registry, logger } = options;
  const known = new Map<bigint, Drift>();
  const compared = registerAuditMetrics(registry, known);
  /** Whether the last sample could not be compared. */
  let isFailing = false;

  function note(block: bigint, audit: Audit): void {
    compared.inc({ outcome: audit.outcome });
    if (audit.outcome !== 'drift') return;
    const { outcome: _, ...drift } = audit;
    if (!known.has(block)) {
      logger.error(
        drift,
        'the state differs from the node; `repair` is the command that publishes the block again',
      );
      if (known.size >= driftsMax) return;
    }
    known.set(block, drift);
  }

  /** Forgets a difference that agrees again, or that can no longer be compared. */
  function forgetResolved(block: bigint, { outcome }: Audit) {
    if (outcome === 'drift') return;
    logger.info(
      { about: known.get(block)?.about },
      outcome === 'agrees'
        ? 'a known difference no longer exists'
        : 'a known difference can no longer be compared',
    );
    known.delete(block);
  }

  async function compare() {
    const states = safeStates().slice(-sampledStates);
    for (const number of [...known.keys()]) {
      const state = safeStates().find(({ block }) => block.number === number);
      forgetResolved(number, state === undefined ? { outcome: 'skipped' } : await auditBlock(state));
    }
    const state = states[Math.floor(random() * states.length)];
    if (state !== undefined) note(state.block.number, await auditBlock(state));
  }

  /** Compares one safe block and all known differences. */
  async function sample(): Promise<void> {
    try {
      await compare();
      isFailing = false;
    } catch (error) {
      compared.inc({ outcome: 'skipped' });
      if (!isFailing)
        logger.warn(
          { err: error },
          'a safe block cannot be compared with the node; the next audit continues with another one',
        );
      isFailing = true;
    }
  }

  return {
    sample,
    /** Compares at each interval while subscribed; emits nothing. */
    samples$: repeatEvery(everyMs, sample),
    /** Differences that are known at the moment. */
    drifts: () => [...known.values()],
  };
}

function registerAuditMetrics(registry: Registry, known: ReadonlyMap<bigint, Drift>) {
  const samples = new Counter({
    name: 'miner_audit_samples_total',
    help: 'Safe blocks compared with the node, by outcome: `skipped` if no comparison was possible.',
    labelNames: ['outcome'],
    registers: [registry],
  });
  for (const outcome of ['agrees', 'drift', 'skipped']) samples.inc({ outcome }, 0);
  registerMetrics(registry, {
    miner_audit_drifts: ['Safe blocks known to differ from the node.', () => known.size],
  });
  return samples;
}
