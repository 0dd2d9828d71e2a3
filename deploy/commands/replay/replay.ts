import { compareDays } from '../../../storage/rows/historyDifferences.ts';
import { closeFill, findFillBase } from '../../../storage/runs/fills.ts';
import { type Lineage, readLineage } from '../../../storage/runs/lineages.ts';
import { createSnapshotStore } from '../../../storage/snapshots/snapshots.ts';
import { counterStream } from '../../../streams/folds/counterStream.ts';
import { systemClock } from '../../process/systemClock.ts';
import { describeDifferences } from './differenceLines.ts';
import { foldReplay } from './foldReplay.ts';
import { handOver } from './handOver.ts';
import type { ReplayOptions } from './replayOptions.ts';
import { planReplay, type ReplayPlan, type ReplayRequest } from './replayPlan.ts';

/**
 * Folds messages again into a run of their own, and compares its rows with the rows that count. Then the process that ingests continues with the result.
 * Resumes the same request after a stop, unless it only compares.
 *
 * @throws ReplayRefused
 */
export async function replay(parts: ReplayOptions, request: ReplayRequest): Promise<void> {
  const { database, print, signal } = parts;
  const snapshots = createSnapshotStore(database);
  const { identity } = counterStream.createActors(parts.deployment);
  const { nowMs } = systemClock;
  const { plan, notRebuilt } = await planReplay({ ...parts, snapshots, identity, nowMs }, request);
  if (notRebuilt !== null) print(notRebuilt);
  print(
    `${plan.isResumed ? 'resuming the replay' : 'replay'} of ${describeRange(plan)}${request.dryRun ? ', a dry run' : ''}`,
  );
  const filled = signal.aborted ? null : await foldReplay({ ...parts, snapshots }, plan);
  if (filled === null)
    return print(
      `stopped; the same command ${request.dryRun ? 'begins again' : 'resumes where it was'}. What is read has not changed.`,
    );
  const { throughSequence: position } = plan;
  await printDifferences(parts, filled, position);
  if (request.dryRun) {
    await closeFill(database, filled, { position, nowMs: nowMs() });
    return print('a dry run: what is read has not changed. The service removes the rows of this run later.');
  }
  print(await handOver(parts, filled, position));
}

async function printDifferences(
  { database, print }: ReplayOptions,
  filled: Lineage,
  throughSequence: number,
): Promise<void> {
  // The service may have restarted meanwhile.
  const current = await readLineage(database, filled.stream);
  const histories = { before: current?.runs ?? [], after: filled.runs };
  const fromSequence = findFillBase(filled) + 1;
  const differences = await compareDays(database, histories, { fromSequence, throughSequence });
  for (const line of await describeDifferences(database, differences, histories)) print(line);
}

/** Rows are made again from a saved state on, which may lie below the first requested message. */
function describeRange({ fromSequence, throughSequence, basePosition }: ReplayPlan): string {
  const first = (basePosition ?? 0) + 1;
  const state =
    first === fromSequence
      ? ''
      : `, from the ${basePosition === null ? 'beginning' : `state that is saved at ${basePosition}`} on`;
  return `messages ${fromSequence} to ${throughSequence}${state}`;
}
