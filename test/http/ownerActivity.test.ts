import { expect, it } from 'vitest';
import { plainOwnerActivityResponse } from '../../http/responses/chain/ownerActivity.ts';
import { examples } from '../../http/routes/documentation/examples.ts';

type Place = readonly [blockNumber: number, transactionIndex: number, logIndex: number];

const { answer } = examples.bodies.OwnerActivity as {
  answer: { activity: { source: object }[]; chain: { safeThroughBlock: string } };
};

/** Whether a body may list events of these places, in this order. */
function isAccepted(places: readonly Place[]): boolean {
  const [event] = answer.activity;
  const activity = places.map(([blockNumber, transactionIndex, logIndex], index) => {
    const source = { ...event?.source, blockNumber: String(blockNumber), transactionIndex, logIndex };
    return { ...event, id: `chain:${index}`, source };
  });
  const chain = { ...answer.chain, safeThroughBlock: '10' };
  return plainOwnerActivityResponse.safeParse({ ...answer, chain, activity }).success;
}

it('a body lists newer events before older ones', () => {
  const places: Place[] = [
    [10, 0, 0],
    [9, 1, 0],
    [9, 0, 10],
    [9, 0, 9],
    [8, 9, 9],
  ];
  expect([isAccepted([]), isAccepted(places)]).toEqual([true, true]);
  for (let index = 1; index < places.length; index++)
    expect(isAccepted(places.slice(index - 1, index + 1).toReversed())).toBe(false);
});
