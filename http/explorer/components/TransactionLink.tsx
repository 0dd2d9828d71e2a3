import { shortenHash } from '../format/numbers.ts';
import { usePage } from './pageContext.ts';

/** A transaction, linked to the block explorer if there is one. */
export function TransactionLink({ hash, isWhole = false }: { hash: string; isWhole?: boolean }) {
  const { transactionUrl } = usePage().settings;
  const text = (
    <code class={isWhole ? 'hash whole' : 'hash'} title={hash}>
      {isWhole ? hash : shortenHash(hash)}
    </code>
  );
  return transactionUrl === null ? (
    text
  ) : (
    <a href={`${transactionUrl}${hash}`} rel="noopener noreferrer" target="_blank">
      {text}
      <span class="visually-hidden"> (block explorer, new tab)</span>
    </a>
  );
}
