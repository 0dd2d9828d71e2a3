import { terms, toAnchor } from '../../addresses/terms.ts';
import { usePage } from '../components/pageContext.ts';
import { nameChain } from '../format/networks.ts';

/** Explains the project in six sentences, a drawing and its words. */
export function About() {
  const { chain } = usePage();
  return (
    <section aria-labelledby="about">
      <h1 id="about">About this service</h1>
      <Drawing />
      <ol class="about-steps">
        <li>
          A physical <strong>wheel</strong> turns, and a device measures its turns as <strong>work</strong>.
        </li>
        <li>
          Ten minutes make a <strong>round</strong>. When a round has ended, an oracle checks its work and
          closes it.
        </li>
        <li>
          Batches of closed rounds are recorded on <strong>{nameChain(chain)}</strong>. From then on they are
          settled; before that, settlement is only expected.
        </li>
        <li>
          Settled work completes <strong>work blocks</strong>. Each work block mints tokens, round by round.
        </li>
        <li>
          <strong>Miners</strong> share the minted tokens by weight. Their owners claim the tokens.
        </li>
        <li>
          This service only reads. It names the source of each figure and never shows an unknown value as
          zero.
        </li>
      </ol>
      <h2 id="words">Words</h2>
      <dl>
        {terms.map((term) => (
          <div key={term.name} id={toAnchor(term)}>
            <dt>{term.name}</dt>
            <dd>{term.meaning}</dd>
          </div>
        ))}
      </dl>
      <p>
        <a href="/">See the wheel now</a> · <a href="/docs">Read the guides</a>
      </p>
    </section>
  );
}

const stations = [
  ['measured', 'Wheel', 'work is measured'],
  ['optimistic', 'Oracle', 'rounds are closed'],
  ['settled', 'Chain', 'batches are settled'],
  ['issued', 'Owners', 'tokens are minted'],
] as const;

/** The way of the work, as a row of stations. Their words are in the page, so that they can be read at any width. */
function Drawing() {
  return (
    <ol class="stations" aria-label="From work to tokens">
      {stations.map(([stage, place, what]) => (
        <li key={stage} class={`card station ${stage}`}>
          <svg viewBox="0 0 48 48" width="48" height="48" aria-hidden="true">
            <path d={icons[stage]} />
          </svg>
          <h2>{place}</h2>
          <p class="small quiet">{what}</p>
        </li>
      ))}
    </ol>
  );
}

const icons = {
  measured: 'M24 5a19 19 0 1 0 .01 0M24 5v38M5 24h38M10.6 10.6l26.8 26.8M37.4 10.6L10.6 37.4',
  optimistic: 'M9 25l10 10 20-22M6 43h36',
  settled: 'M24 4l13 20-13 8-13-8zM11 28l13 16 13-16-13 8z',
  issued: 'M24 6a18 18 0 1 0 .01 0M24 14v20M18 18h9a4 4 0 0 1 0 8h-6a4 4 0 0 0 0 8h9',
} as const;
