import { Available } from '../../components/Banner.tsx';
import { usePage } from '../../components/pageContext.ts';
import { formatInteger } from '../../format/numbers.ts';
import { metadataPath } from '../../resources.ts';

/**
 * Picture of a miner, from its contract's metadata.
 *
 * @param hasAttributes whether it has the attributes, too. They are the ones to come: figures of the position say which hold now.
 */
export function TokenCard({ tokenId, hasAttributes }: { tokenId: string; hasAttributes: boolean }) {
  return (
    <Available what={`Miner ${tokenId}`} body={usePage().read('metadata', metadataPath(tokenId))}>
      {({ name, imageDataUri, description, attributes }) => (
        <article class="token-card" aria-label={name}>
          {imageDataUri !== undefined && <img src={imageDataUri} alt="" width="160" height="160" />}
          <div>
            <p>{description}</p>
            {hasAttributes && (
              <dl class="attributes">
                {attributes.map(({ traitType, value }) => (
                  <div key={traitType}>
                    <dt>{traitType}</dt>
                    <dd>{traitType === 'Weight' ? formatInteger(value) : value}</dd>
                  </div>
                ))}
              </dl>
            )}
          </div>
        </article>
      )}
    </Available>
  );
}
