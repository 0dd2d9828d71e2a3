interface Term {
  readonly name: string;
  readonly meaning: string;
}

/** The fragment of a word on the page that explains them. */
export const toAnchor = ({ name }: Term) => name.replaceAll(' ', '-');

/** The words of the pages that a visitor may not know. The search leads to each. */
export const terms: readonly Term[] = [
  { name: 'measured', meaning: 'Counted by the device and accepted by this service.' },
  {
    name: 'optimistic',
    meaning:
      'Closed and measured rounds would settle this next. It can still change, and is never added to settled work.',
  },
  { name: 'settled', meaning: 'Recorded on the chain by a batch, with 12 confirmations.' },
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
  { name: 'claimable', meaning: 'Earned by miners, and not yet claimed by their owner.' },
  {
    name: 'universal day',
    meaning: 'A day of the wheel, from noon to noon UTC, named by the date of its first noon.',
  },
  {
    name: 'observed',
    meaning: 'Measured without a gap. The work of other rounds is unknown, which is not zero.',
  },
];
