/** A button that copies a text, with the page's script (`browser/copy.ts`). */
export function Copy({ text, what }: { text: string; what: string }) {
  return (
    <span class="copy needs-script screen">
      <button type="button" class="plain small" data-copy={text}>
        Copy<span class="visually-hidden"> {what}</span>
      </button>{' '}
      <span class="small quiet" role="status">
        <span class="copied">Copied</span>
        <span class="not-copied">Not possible here</span>
      </span>
    </span>
  );
}
