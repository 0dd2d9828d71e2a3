import fc from 'fast-check';
import { zeroAddress } from 'viem';
import { describe, expect, it } from 'vitest';
import { createChainActors } from '../../../actors/chain/chainActors.ts';
import { type ProposerChange, proposerRole } from '../../../actors/chain/spans/chainReads.ts';
import { toAddress } from '../../../actors/schemas/hex.ts';
import {
  buildEvent,
  buildHash,
  buildSpan,
  buildSpanMessage,
  writtenChainId,
  writtenContracts,
} from '../../support/chain/writtenSpans.ts';
import { restoreState } from '../../support/restoreState.ts';

const settings = { chainId: writtenChainId, contracts: writtenContracts, deploymentBlock: 10n };
const formatAccount = (number: number) => toAddress(`0x${number.toString(16).padStart(40, '0')}`);

function readsMessage(proposers: readonly ProposerChange[], change: object = {}) {
  const reads = {
    core: writtenContracts.core,
    blockNumber: '9',
    blockHash: buildHash(9),
    proposers,
    ...change,
  };
  const subject = `miner.chain.${writtenChainId}.reads`;
  return { ...buildSpanMessage(reads, 1), subject };
}

const buildRoleChange = ({ account, isGranted }: ProposerChange) =>
  buildEvent('operatorTimelock', isGranted ? 'RoleGranted' : 'RoleRevoked', {
    role: proposerRole,
    account,
    sender: formatAccount(9),
  });

describe('chain reads from before the deployment block', () => {
  const changes = fc.array(
    fc.record({ account: fc.integer({ min: 1, max: 3 }).map(formatAccount), isGranted: fc.boolean() }),
    { maxLength: 5 },
  );
  const unique = changes.map((given) =>
    given.filter(({ account }, at) => given.findLastIndex((one) => one.account === account) === at),
  );

  it('count as older than all logs, whenever they arrive', () => {
    fc.assert(
      fc.property(unique, changes, fc.nat(30), fc.nat(30), (read, logged, arrivesAt, restartsAt) => {
        const spans = Array.from({ length: 30 }, (_, index) => {
          const change = logged[index];
          return buildSpanMessage(
            buildSpan({ number: 10 + index, events: change === undefined ? [] : [buildRoleChange(change)] }),
            index,
          );
        });
        let actors = createChainActors(settings);
        for (const [index, message] of spans.toSpliced(arrivesAt, 0, readsMessage(read)).entries()) {
          if (index === restartsAt) {
            const records = actors.capture();
            actors = createChainActors(settings);
            restoreState(actors, records);
          }
          expect(actors.receive(message)).not.toHaveProperty('rejection');
        }
        const granted: string[] = [];
        for (const { account, isGranted } of [...read, ...logged]) {
          if (granted.includes(account)) granted.splice(granted.indexOf(account), 1);
          if (isGranted) granted.push(account);
        }
        const nobody = read.length + logged.length === 0 ? null : zeroAddress;
        expect(actors.newest()?.governance.operatorProposer).toBe(granted.at(-1) ?? nobody);
      }),
      { numRuns: 30 },
    );
  });

  it('count only for the chain whose block they were read at', () => {
    const [known, other] = [{ account: formatAccount(1), isGranted: true }, buildHash(9, 5)];
    const spans = Array.from({ length: 20 }, (_, index) =>
      buildSpanMessage(buildSpan({ number: 10 + index }), index),
    );
    const actors = createChainActors(settings);
    actors.receive(readsMessage([known], { blockHash: other }));
    for (const span of spans) actors.receive(span);
    expect(actors.newest()?.governance.operatorProposer).toBeNull();
    // A chain with the block of the reads replaces the whole chain.
    for (let number = 10; number < 30; number++)
      actors.receive(buildSpanMessage(buildSpan({ number, fork: 1, branch: 5 }), 50 + number));
    expect(actors.newest()?.governance.operatorProposer).toBe(formatAccount(1));
    actors.receive(readsMessage([{ ...known, account: formatAccount(2) }], { blockHash: other }));
    // A reorganization may return to an older state.
    for (const { governance } of actors.state.safe) expect(governance.proposers).toHaveLength(2);
  });

  it.each<[string, object, string]>([
    ['of another core', { core: formatAccount(5) }, 'other_deployment'],
    ['of another block', { blockNumber: '8' }, 'malformed'],
    ['without a hash', { blockHash: '0x' }, 'malformed'],
  ])('are rejected %s', (_what, change, reason) => {
    const actors = createChainActors(settings);
    const before = [...actors.capture()];
    expect(actors.receive(readsMessage([], change))).toMatchObject({ rejection: { reason } });
    expect([...actors.capture()]).toEqual(before);
  });
});
