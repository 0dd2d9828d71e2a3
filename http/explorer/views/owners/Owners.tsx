import { usePage } from '../../components/pageContext.ts';
import { Available } from '../../components/ResourceNotice.tsx';
import { nameView } from '../../place.ts';
import { activityPath, corePath, portfolioPath } from '../../resources.ts';
import { EventPages } from '../feed/EventList.tsx';
import { OwnerActivity } from './OwnerActivity.tsx';
import { Positions } from './Positions.tsx';

/** An owner's miners, earnings and activity. Without an owner, what owners did last. */
export function Owners({ address }: { address: string | null }) {
  return (
    <>
      <section aria-labelledby="owners">
        <h1 id="owners">{nameView({ view: 'owners', address })}</h1>
        <p class="lead">
          Miners are positions that share in what is minted, by their weight. Search for an address to see
          what it owns.
        </p>
      </section>
      {address === null ? (
        <section aria-labelledby="latest">
          <h2 id="latest">What owners did last</h2>
          <EventPages category="players" />
        </section>
      ) : (
        <Owner address={address} />
      )}
    </>
  );
}

function Owner({ address }: { address: string }) {
  const { read } = usePage();
  const portfolio = read('portfolio', portfolioPath(address));
  const activity = read('activity', activityPath(address));
  // The core's settled rounds reveal a reorganization, after which the lists are read again.
  read('core', corePath);
  return (
    <Available what="Positions" resource={portfolio}>
      {(body) => (
        <>
          <Positions portfolio={body} path={portfolioPath(address)} />
          <OwnerActivity
            activity={activity}
            path={activityPath(address)}
            configuration={body.configuration}
          />
        </>
      )}
    </Available>
  );
}
