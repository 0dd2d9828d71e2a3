/** The heads of a table's columns; numbers are aligned on the right. */
export function Headings({
  columns,
}: {
  columns: readonly { readonly text: string; readonly isNumber?: boolean }[];
}) {
  return (
    <thead>
      <tr>
        {columns.map(({ text, isNumber = false }) => (
          <th key={text} scope="col" class={isNumber ? 'number' : undefined}>
            {text}
          </th>
        ))}
      </tr>
    </thead>
  );
}
