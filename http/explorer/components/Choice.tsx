import { formatPlace, type Place } from '../place.ts';

interface ChoiceProps<Option extends string> {
  readonly label: string;
  readonly names: Readonly<Record<Option, string>>;
  readonly options: readonly Option[];
  readonly chosen: Option;
  readonly toPlace: (option: Option) => Place;
}

/** Links between variants of a view, such as its ranges; each has an address of its own. */
export function Choice<Option extends string>({
  label,
  names,
  options,
  chosen,
  toPlace,
}: ChoiceProps<Option>) {
  return (
    <nav class="choice" aria-label={label}>
      {options.map((option) => (
        <a
          key={option}
          href={formatPlace(toPlace(option))}
          aria-current={option === chosen ? 'true' : undefined}
        >
          {names[option]}
        </a>
      ))}
    </nav>
  );
}
