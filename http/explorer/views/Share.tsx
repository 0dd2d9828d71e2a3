import { Copy } from '../components/Copy.tsx';
import { usePage } from '../components/pageContext.ts';
import { nameView } from '../place.ts';

/** Sizes of a frame in pixels, in which the embed fits. The narrow one has the compact layout. */
const sizes = [
  { name: 'Wide', width: 720, height: 340 },
  { name: 'Compact', width: 320, height: 480 },
] as const;

/** Stands for the address of the service while its operator has not configured it. */
const unknownUrl = 'https://ADDRESS-OF-THIS-SERVICE';

/** How to show the wheel on another site: previews, and the lines to copy. */
export function Share() {
  const { publicUrl } = usePage().settings;
  const base = publicUrl ?? unknownUrl;
  return (
    <>
      <section aria-labelledby="share">
        <h1 id="share">{nameView({ view: 'share' })}</h1>
        <p class="lead">
          Show what the wheel does on your own site. Both pictures follow by themselves, set no cookies, and
          call unknown what is unknown.
          {publicUrl === null &&
            ` This service does not know its own address: put it in place of ${unknownUrl}.`}
        </p>
      </section>
      <section aria-labelledby="badge">
        <h2 id="badge">Badge</h2>
        <p>
          <img src="/badge.svg" alt="State of the wheel and its work today" height="20" />
        </p>
        <Snippet label="Markdown" text={`[![The wheel](${base}/badge.svg)](${base}/)`} />
        <Snippet
          label="HTML"
          text={`<a href="${base}/"><img src="${base}/badge.svg" alt="The wheel" height="20"></a>`}
        />
      </section>
      {sizes.map(({ name, width, height }) => (
        <section key={name} aria-labelledby={`embed-${name}`}>
          <h2 id={`embed-${name}`}>
            Embed, {name.toLowerCase()}: {width} by {height}
          </h2>
          <iframe
            class="preview"
            src="/embed"
            title={`The wheel, ${name.toLowerCase()}`}
            width={width}
            height={height}
          />
          <Snippet
            label="HTML"
            text={`<iframe src="${base}/embed" title="The wheel" width="${width}" height="${height}" loading="lazy" style="border:0;max-width:100%"></iframe>`}
          />
        </section>
      ))}
    </>
  );
}

function Snippet({ label, text }: { label: string; text: string }) {
  return (
    <div class="snippet">
      <p class="small quiet">
        {label} <Copy text={text} what={`the ${label}`} />
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
    </div>
  );
}
