import { expect, it } from 'vitest';
import { plainOwnerActivityResponse } from '../../http/responses/chain/ownerActivity.ts';
import { examples } from '../../http/routes/documentation/examples.ts';

type Place = readonly [blockNumber: number, transactionIndex: number, logIndex: number];

const { answer } = examples.bodies.OwnerActivity as {
  answer: { activity: { source: object }[]; chain: { safeThroughBlock: string } };
};

/** Whether a body may list events of these places, in this order. */
function isAccepted(places: readonly Place[], id = (index: number) => `chain:${index}`): boolean {
  const activity = places.map(([blockNumber, transactionIndex, logIndex], index) => {
    const event = answer.activity[0] as { source: object };
    const source = { ...event.source, blockNumber: String(blockNumber), transactionIndex, logIndex };
    return { ...event, id: id(index), source };
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
  expect(isAccepted(places)).toBe(true);
  for (let index = 1; index < places.length; index++)
    expect(isAccepted(places.slice(index - 1, index + 1).toReversed())).toBe(false);
});

it('a body lists no event twice, and none above the safe block', () => {
  const places: Place[] = [
    [9, 0, 1],
    [9, 0, 0],
  ];
  expect([isAccepted([]), isAccepted(places)]).toEqual([true, true]);
  expect(isAccepted(places.map(() => [9, 0, 0]))).toBe(false);
  expect(isAccepted(places, () => 'chain:1')).toBe(false);
  expect(isAccepted([[11, 0, 0]])).toBe(false);
});
