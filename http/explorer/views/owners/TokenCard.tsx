import { useEffect, useRef } from 'preact/hooks';
import { Unavailable } from '../../components/Banner.tsx';
import { usePage } from '../../components/pageContext.ts';
import { ResourceNotice } from '../../components/ResourceNotice.tsx';
import { explain } from '../../format/words.ts';
import { metadataPath } from '../../resources.ts';

/** Picture and attributes of a miner, from its contract's metadata. */
export function TokenCard({ tokenId }: { tokenId: string }) {
  const metadata = usePage().read('metadata', metadataPath(tokenId));
  const card = useRef<HTMLElement>(null);
  useEffect(() => card.current?.focus(), [tokenId]);
  const { body } = metadata;
  return (
    <article class="token-card" aria-label={`Miner ${tokenId}`} tabIndex={-1} ref={card}>
      <ResourceNotice what={`Miner ${tokenId}`} resource={metadata} />
      {body?.status === 'unavailable' && (
        <Unavailable title={`Miner ${tokenId} has no card`}>{explain(body.reason)}</Unavailable>
      )}
      {body?.status === 'available' && (
        <>
          {body.imageDataUri !== undefined && <img src={body.imageDataUri} alt="" width="160" height="160" />}
          <div>
            <h3>{body.name}</h3>
            <p>{body.description}</p>
            <dl class="attributes">
              {body.attributes.map(({ traitType, value }) => (
                <div key={traitType}>
                  <dt>{traitType}</dt>
                  <dd>{value}</dd>
                </div>
              ))}
            </dl>
          </div>
        </>
      )}
    </article>
  );
}
