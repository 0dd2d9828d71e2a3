import { Available } from '../../components/Banner.tsx';
import { Copy } from '../../components/Copy.tsx';
import { Figure } from '../../components/Figure.tsx';
import { Linked } from '../../components/Linked.tsx';
import { usePage } from '../../components/pageContext.ts';
import { Time } from '../../components/Time.tsx';
import { formatInteger } from '../../format/numbers.ts';
import { describeAmount } from '../../format/quantities.ts';
import { describeShare } from '../../format/shares.ts';
import type { MinerHolder } from '../../page.ts';
import { listMinerPaths } from '../../resources.ts';
import { OwnerEventItem } from '../owners/OwnerActivity.tsx';
import { describeMerge, type Portfolio } from '../owners/Positions.tsx';

/** The owner of a miner, its rewards, its weight, and its transfers. */
export function MinerFacts({ tokenId, holder }: { tokenId: string; holder: MinerHolder }) {
  const { read } = usePage();
  const paths = listMinerPaths(holder);
  const activity = read('activity', paths.activity);
  return (
    <>
      <p>
        Owned by{' '}
        <a href={`/owners/${holder.address}`}>
          <code class="hash whole">{holder.address}</code>
        </a>{' '}
        <Copy text={holder.address} what="the address of the owner" />
      </p>
      <Available what="The position" body={read('portfolio', paths.position)}>
        {(portfolio) => (
          <>
            <Position tokenId={tokenId} portfolio={portfolio} route={paths.position} />
            <Available what="Transfers" body={activity}>
              {({ activity: events }) => (
                <ol class="events">
                  {events
                    .filter(({ kind, tokenIds }) => kind === 'transfer' && tokenIds.includes(tokenId))
                    .map((event) => (
                      <OwnerEventItem
                        key={event.id}
                        event={event}
                        owner={holder.address}
                        configuration={portfolio.configuration}
                      />
                    ))}
                </ol>
              )}
            </Available>
          </>
        )}
      </Available>
    </>
  );
}

interface PositionProps {
  readonly tokenId: string;
  readonly portfolio: Portfolio;
  readonly route: string;
}

function Position({ tokenId, portfolio, route }: PositionProps) {
  const { positions, configuration, mining, chain, identities } = portfolio;
  const position = positions.find((one) => one.tokenId === tokenId);
  if (position === undefined) return null;
  const asset = { symbol: configuration.tokenSymbol, decimals: configuration.tokenDecimals };
  const common = {
    route,
    safeBlock: chain.safeThroughBlock,
    contract: identities.mining,
  } as const;
  const share = describeShare(position.activeWeight, mining.totalWeight);
  return (
    <>
      <div class="figures wide">
        <Figure
          {...common}
          {...describeAmount(position.claimableBaseUnits, asset, 4)}
          label="Claimable"
          field="positions.claimableBaseUnits"
          meaning="Earned and not claimed yet."
        />
        <Figure
          {...common}
          {...describeAmount(position.earnedBaseUnits, asset, 4)}
          label="Earned"
          field="positions.earnedBaseUnits"
          meaning="All that this miner has earned for its owner."
        />
        <Figure
          {...common}
          label="Level"
          value={position.level}
          unit={`of ${configuration.maximumLevel}`}
          exact={String(position.level)}
          field="positions.level"
          meaning="A merge raises it, and with it the weight."
        />
        <Figure
          {...common}
          label="Weight"
          value={formatInteger(position.activeWeight)}
          exact={position.activeWeight}
          field="positions.activeWeight"
          meaning="Its part of the weight of all owners is its part of what is minted."
        >
          {share.value !== null && `${share.value} % of all`}
          {position.pendingRound !== null &&
            `, ${formatInteger(position.targetWeight)} from round ${formatInteger(position.pendingRound)}`}
        </Figure>
      </div>
      <p class="small quiet">
        With this owner since <Time at={position.ownershipStartedAt} as="minute" />. Merge:{' '}
        <Linked of={describeMerge(position)} />.
      </p>
    </>
  );
}
