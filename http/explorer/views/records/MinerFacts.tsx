import { findAvailable } from '../../components/Available.tsx';
import { Figure, Figures } from '../../components/Figure.tsx';
import { Linked } from '../../components/Linked.tsx';
import { usePage } from '../../components/pageContext.ts';
import { Time } from '../../components/Time.tsx';
import { describeMerge } from '../../format/merges.ts';
import { formatInteger } from '../../format/numbers.ts';
import { describeAmount, describeShare } from '../../format/quantities.ts';
import type { Shown } from '../../page.ts';
import { recordPath, settlementsPath } from '../../resources.ts';

export function MinerFacts({ miner }: { miner: Shown<'miner'> }) {
  const settlements = usePage().read('settlements', settlementsPath('now'));
  const { owner, position, configuration, mining, chain } = miner;
  if (owner === null || position === null) return null;
  const asset = { symbol: configuration.tokenSymbol, decimals: configuration.tokenDecimals };
  const share = describeShare(position.activeWeight, mining.totalWeight);
  return (
    <>
      <p>
        Owned by{' '}
        <a href={`/owners/${owner}`}>
          <code class="hash whole">{owner}</code>
        </a>
      </p>
      <Figures route={recordPath('miner', miner.tokenId)} safeBlock={chain.safeThroughBlock}>
        <Figure
          {...describeAmount(position.claimableBaseUnits, asset, 4)}
          label="Claimable"
          field="position.claimableBaseUnits"
          meaning="Earned but not claimed yet."
        />
        <Figure
          {...describeAmount(position.earnedBaseUnits, asset, 4)}
          label="Earned"
          field="position.earnedBaseUnits"
          meaning="Total earned by this miner, also for earlier owners."
        />
        <Figure
          label="Level"
          value={position.level}
          unit={`of ${configuration.maximumLevel}`}
          exact={String(position.level)}
          field="position.level"
          meaning="A merge raises the level and the weight."
        />
        <Figure
          label="Weight"
          value={formatInteger(position.activeWeight)}
          exact={position.activeWeight}
          field="position.activeWeight"
          meaning="Its share of all weight is its share of each mint."
        >
          {share.value !== null && `${share.value} % of all`}
          {position.pendingRound !== null &&
            `, ${formatInteger(position.targetWeight)} from round ${formatInteger(position.pendingRound)}`}
        </Figure>
      </Figures>
      <p class="small quiet">
        With this owner since <Time at={position.ownershipStartedAt} as="minute" />. Merge:{' '}
        <Linked of={describeMerge(position, null, findAvailable(settlements))} />.
      </p>
    </>
  );
}
