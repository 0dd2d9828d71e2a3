import { expect } from 'vitest';
import type { ProcessResponse } from '../../../http/responses/process/process.ts';

const uint64Max = 2n ** 64n - 1n;
const terminal = ['confirmed', 'reverted', 'superseded'];

interface Sums {
  readonly blockHeight: string;
  readonly currentWork: string;
  readonly workPerBlock: string;
}

interface Completed {
  readonly firstCompletedBlock: string | null;
  readonly lastCompletedBlock: string | null;
  readonly completedBlockCount: string;
}

/** The six cross-field rules of the process snapshot (CONTRACT.md, Cross-field rules). */
export function expectProcessRules({ builder, oracle, settlementQueue: queue }: ProcessResponse): void {
  const projections: (Sums & Completed)[] = [];
  const frontiers: Sums[] = [];
  if (builder.status === 'available') {
    projections.push(builder.projected);
    frontiers.push(builder.anchor);
  }
  if (queue.status === 'available') {
    projections.push(queue.projected);
    if (queue.latestSubmission !== null) projections.push(queue.latestSubmission.expected);
  }

  // 1 and 2
  for (const { blockHeight, completedBlockCount, firstCompletedBlock, lastCompletedBlock } of projections) {
    const count = BigInt(completedBlockCount);
    expect(firstCompletedBlock === null).toBe(count === 0n);
    expect(lastCompletedBlock === null).toBe(count === 0n);
    if (firstCompletedBlock === null || lastCompletedBlock === null) continue;
    expect(lastCompletedBlock).toBe(blockHeight);
    expect(BigInt(lastCompletedBlock) - BigInt(firstCompletedBlock) + 1n).toBe(count);
  }
  for (const { currentWork, workPerBlock, blockHeight } of [...projections, ...frontiers]) {
    expect(BigInt(workPerBlock)).toBeGreaterThan(0n);
    expect(BigInt(currentWork)).toBeLessThan(BigInt(workPerBlock));
    expect(BigInt(workPerBlock)).toBeLessThanOrEqual(uint64Max);
    expect(BigInt(blockHeight)).toBeLessThanOrEqual(uint64Max);
  }

  // 4, and of 3 the closure
  expect(oracle.latestAcceptedAt === null).toBe(oracle.state === 'unavailable');
  expect(oracle.reason === null).toBe(oracle.state === 'accepted' || oracle.state === 'stale');
  if (oracle.latestClosure !== null) {
    const { firstRound, lastRound, roundCount } = oracle.latestClosure;
    expect(BigInt(roundCount)).toBe(BigInt(lastRound) - BigInt(firstRound) + 1n);
  }
  if (queue.status !== 'available') return;

  // 3 and 5
  const { buffered, latestSubmission: submission } = queue;
  if (buffered.firstRound === null || buffered.lastRound === null) expect(buffered.roundCount).toBe('0');
  else
    expect(BigInt(buffered.roundCount)).toBe(BigInt(buffered.lastRound) - BigInt(buffered.firstRound) + 1n);
  expect(queue.state === 'blocked').toBe(queue.blockedReason !== null);
  if (queue.state === 'empty') expect(buffered.roundCount).toBe('0');
  if (queue.state === 'ready') expect(BigInt(buffered.roundCount)).toBeGreaterThan(0n);
  if (['preparing', 'submitted', 'retrying'].includes(queue.state))
    expect(submission?.lifecycle).toBe(queue.state);
  if (submission === null) return;

  // 6, and of 3 the submission
  const { lifecycle, roundCount, activeRoundCount } = submission;
  expect(BigInt(roundCount)).toBe(
    BigInt(submission.settledThroughRound) - BigInt(submission.previousSettledThroughRound),
  );
  expect(Number(activeRoundCount)).toBeLessThanOrEqual(Math.min(16, Number(roundCount)));
  if (['submitted', 'confirmed', 'reverted'].includes(lifecycle))
    expect(submission.submittedAt).not.toBeNull();
  expect(submission.terminalAt !== null).toBe(terminal.includes(lifecycle));
  expect(submission.confirmedAt !== null).toBe(lifecycle === 'confirmed');
  expect(submission.outcomeCode).toBe(
    lifecycle === 'reverted' || lifecycle === 'superseded' ? lifecycle : null,
  );
}
