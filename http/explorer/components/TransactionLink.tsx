import { shortenHash } from '../format/numbers.ts';
import { usePage } from './pageContext.ts';

export function TransactionLink({ hash }: { hash: string }) {
  const { transactionUrl } = usePage().settings;
  const text = (
    <code class="hash" title={hash}>
      {shortenHash(hash)}
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
