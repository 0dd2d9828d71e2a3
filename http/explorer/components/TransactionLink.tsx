import { formatPlace } from '../../addresses/place.ts';
import { shortenHash } from '../format/numbers.ts';
import { usePage } from './pageContext.ts';

export function TransactionLink({ hash }: { hash: string }) {
  return (
    <a href={formatPlace({ view: 'transaction', id: hash })} title={hash}>
      <code class="hash">{shortenHash(hash)}</code>
    </a>
  );
}

/** All of a transaction's hash. It leads to the block explorer, if there is one. */
export function WholeTransaction({ hash }: { hash: string }) {
  const { transactionUrl } = usePage().settings;
  const text = <code class="hash whole">{hash}</code>;
  return transactionUrl === null ? (
    text
  ) : (
    <a href={`${transactionUrl}${hash}`} rel="noopener noreferrer" target="_blank">
      {text}
      <span class="visually-hidden"> (block explorer, new tab)</span>
    </a>
  );
}
