/** Explains the project in six sentences and a drawing. */
export function About() {
  return (
    <section aria-labelledby="about">
      <h1 id="about">What this is</h1>
      <Drawing />
      <ol class="about-steps">
        <li>
          A physical <strong>wheel</strong> turns, and a device counts its turns as <strong>work</strong>:
          that is measured.
        </li>
        <li>
          Every ten minutes are a <strong>round</strong>; an oracle checks the work of a round that has ended,
          and closes it.
        </li>
        <li>
          Closed rounds are written to <strong>Ethereum</strong> in batches: from then on they are settled,
          and until then what would settle is only expected.
        </li>
        <li>
          Settled work completes <strong>work blocks</strong>, and for each of them tokens are minted, round
          by round.
        </li>
        <li>
          <strong>Miners</strong> are positions that share in what is minted, by their weight; their owners
          claim it.
        </li>
        <li>
          This service only reads: it shows what is known, says where each figure is from, and never shows
          what is unknown as zero.
        </li>
      </ol>
      <p>
        <a href="/">See the wheel now</a> · <a href="/docs">Read the guides</a>
      </p>
    </section>
  );
}

const stations = [
  ['measured', 'Wheel', 'work is measured'],
  ['optimistic', 'Oracle', 'rounds are closed'],
  ['settled', 'Ethereum', 'batches are settled'],
  ['issued', 'Owners', 'tokens are minted'],
] as const;

/** The way of the work, as a row of stations. Their words are in the page, so that they can be read at any width. */
function Drawing() {
  return (
    <ol class="stages stations" aria-label="The way of the work">
      {stations.map(([stage, place, what]) => (
        <li key={stage} class={`stage ${stage}`}>
          <svg viewBox="0 0 48 48" width="48" height="48" aria-hidden="true">
            <path d={icons[stage]} />
          </svg>
          <h2>{place}</h2>
          <p class="meaning">{what}</p>
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
