import { formatInteger } from '../format/numbers.ts';
import { type Source, usePage } from './pageContext.ts';
import { Table } from './Table.tsx';
import { Time } from './Time.tsx';

/** Where each figure above comes from, with all its digits. */
export function Sources() {
  const { sources } = usePage();
  if (sources.length === 0) return null;
  return (
    <details id="sources">
      <summary>Sources of this page</summary>
      <Table
        label="sources of the figures"
        hasCards
        rows={sources}
        columns={[
          { name: 'Figure', cell: ({ label }) => label },
          { name: 'In full', cell: ({ exact }) => exact ?? 'unknown, which is not zero' },
          { name: 'Meaning', cell: ({ meaning = '' }) => meaning },
          { name: 'Route', cell: ({ route }) => <a href={route}>{route}</a> },
          { name: 'Field', cell: ({ field }) => <code>{field}</code> },
          { name: 'As of', cell: (source) => <AsOf {...source} /> },
        ]}
      />
    </details>
  );
}

function AsOf({ provenance = null, observedAt = null, safeBlock = null }: Source) {
  return (
    <>
      {observedAt !== null && <Time at={observedAt} as="minute" />}
      {safeBlock !== null && `chain block ${formatInteger(safeBlock)}`}
      {provenance !== null && ` (${provenance})`}
    </>
  );
}
