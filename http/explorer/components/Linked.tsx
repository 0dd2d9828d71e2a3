import { formatPlace } from '../../addresses/place.ts';
import { roundPath } from '../../addresses/recordPaths.ts';
import type { Link, Sentence } from '../format/sentence.ts';
import { corePath } from '../resources.ts';
import { findGenesisMs, roundMs } from '../rounds.ts';
import { usePage } from './pageContext.ts';
import { Time } from './Time.tsx';

export function To({ text, place, title, isDated = false }: Link) {
  const { read } = usePage();
  const hasDate = isDated && 'id' in place && roundPath.parse(place.id) !== null;
  const genesisMs = hasDate ? findGenesisMs(read('core', corePath)) : null;
  return (
    <>
      <a href={formatPlace(place)} title={title}>
        {text}
      </a>
      {'id' in place && genesisMs !== null && (
        <>
          {' ('}
          <Time at={new Date(genesisMs + (Number(place.id) - 1) * roundMs).toISOString()} as="minute" />)
        </>
      )}
    </>
  );
}

export function Linked({ of }: { of: Sentence }) {
  return <>{of.map(toPart)}</>;
}

function toPart(part: Sentence[number], index: number) {
  if (typeof part === 'string') return part;
  if ('place' in part) return <To key={index} {...part} />;
  return (
    <details key={index} class="fold">
      <summary>{part.text}</summary> <Linked of={part.all} />
    </details>
  );
}
