interface Term {
  readonly name: string;
  readonly meaning: string;
}

/** The fragment of a word on the page that explains them. */
export const toAnchor = ({ name }: Term) => name.replaceAll(' ', '-');

/** The words of the pages that a visitor may not know. The search leads to each. */
export const terms: readonly Term[] = [
  { name: 'measured', meaning: 'What the device counted and this service accepted.' },
  {
    name: 'optimistic',
    meaning:
      'What closed and measured rounds would settle next. It can still change, and is never added to what is settled.',
  },
  { name: 'settled', meaning: 'What a batch has recorded on the chain, with 12 confirmations.' },
  { name: 'issued', meaning: 'Tokens that were minted for settled work.' },
  { name: 'work', meaning: 'Turns of the wheel, in the units of its counter.' },
  {
    name: 'round',
    meaning: 'Ten minutes. An oracle checks the work of a round after its end and closes it.',
  },
  {
    name: 'work block',
    meaning: 'A portion of settled work that mints a fixed number of tokens. Its size is the difficulty.',
  },
  { name: 'miner', meaning: 'A token whose owner takes part in every mint, by its weight.' },
  { name: 'merge', meaning: 'Two ready miners of one owner and level become one of the next level.' },
  { name: 'claimable', meaning: 'What miners have earned and their owner has not claimed yet.' },
  {
    name: 'universal day',
    meaning: 'A day of the wheel, from noon to noon UTC, named by the date of its first noon.',
  },
  {
    name: 'observed',
    meaning: 'Measured without a gap. The work of other rounds is unknown, which is not zero.',
  },
];
