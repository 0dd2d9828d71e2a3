import { formatPlace, type Place } from '../place.ts';

/** Links between variants of a view, such as its ranges; each has an address of its own. */
export function Choice({
  label,
  options,
}: {
  label: string;
  options: readonly { name: string; place: Place; isChosen: boolean }[];
}) {
  return (
    <nav class="choice" aria-label={label}>
      {options.map(({ name, place, isChosen }) => (
        <a key={name} href={formatPlace(place)} aria-current={isChosen ? 'true' : undefined}>
          {name}
        </a>
      ))}
    </nav>
  );
}
