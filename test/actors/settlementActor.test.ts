import { expect, it } from 'vitest';
import { reporterSubject } from '../../actors/messages/subjects.ts';
import { createSettlementActors } from '../../actors/settlement/settlementActors.ts';
import { jsonMessage } from '../support/jsonMessage.ts';
import { preparedBody } from '../support/readings/pipelineBodies.ts';
import { deriveUuid } from '../support/readings/readingMessages.ts';

it('submissions expect sums up to their bounds, even if no core could compute them', () => {
  const height = 2n ** 64n - 1n;
  const bounds = {
    cumulativeWork: 1n,
    cumulativeBlockUnits: height * 1_000_000_000n + 999_999_999n,
    workPerThousandBlocks: height * 1_000n,
    completedBlockCount: height,
  };
  const submit = (changes: object) => {
    const sums = Object.entries({ ...bounds, ...changes }).map(([name, sum]) => [name, String(sum)]);
    const members = { at: '2026-01-31T12:00:00Z', submissionId: deriveUuid('first') };
    const body = { ...preparedBody, ...members, expected: Object.fromEntries(sums) };
    return createSettlementActors().receive(jsonMessage(reporterSubject('wheel.one'), body));
  };
  expect(submit({})).toHaveProperty('output');
  for (const excess of [
    { cumulativeBlockUnits: bounds.cumulativeBlockUnits + 1n },
    { workPerThousandBlocks: bounds.workPerThousandBlocks + 1n },
    { cumulativeBlockUnits: height * 1_000_000_000n - 1n },
  ])
    expect(submit(excess)).toHaveProperty('rejection.reason', 'malformed');
});
