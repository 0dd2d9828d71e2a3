import { Unavailable } from '../../components/Banner.tsx';
import { usePage } from '../../components/pageContext.ts';
import { ResourceNotice } from '../../components/ResourceNotice.tsx';
import { explain } from '../../format/words.ts';
import { metadataPath } from '../../resources.ts';

/** Picture and attributes of a miner, from its contract's metadata. */
export function TokenCard({ tokenId }: { tokenId: string }) {
  const metadata = usePage().read('metadata', metadataPath(tokenId));
  const { body } = metadata;
  if (body?.status !== 'available')
    return (
      <>
        <ResourceNotice what={`Miner ${tokenId}`} resource={metadata} />
        {body !== null && <Unavailable>{explain(body.reason)}</Unavailable>}
      </>
    );
  return (
    <article class="token-card" aria-label={body.name}>
      {body.imageDataUri !== undefined && <img src={body.imageDataUri} alt="" width="160" height="160" />}
      <div>
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
    </article>
  );
}
