import { formatPlace, type Place } from '../../addresses/place.ts';

interface ChoiceProps<Option extends string> {
  readonly label: string;
  readonly names: Readonly<Record<Option, string>>;
  readonly chosen: Option;
  readonly toPlace: (option: Option) => Place;
}

export function Choice<Option extends string>({ label, names, chosen, toPlace }: ChoiceProps<Option>) {
  const options = Object.keys(names) as Option[]; // The keys that the type above lists.
  const mark = (option: Option) => (option === chosen ? 'true' : undefined);
  return (
    <nav class="choice" aria-label={label}>
      {options.map((option) => (
        <a key={option} href={formatPlace(toPlace(option))} aria-current={mark(option)}>
          {names[option]}
        </a>
      ))}
    </nav>
  );
}
