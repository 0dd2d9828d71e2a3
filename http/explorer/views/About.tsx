import { terms, toAnchor } from '../../addresses/terms.ts';
import { usePage } from '../components/pageContext.ts';
import { nameChain } from '../format/networks.ts';

export function About() {
  const { chain } = usePage();
  return (
    <section aria-labelledby="about">
      <h1 id="about">About this service</h1>
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
