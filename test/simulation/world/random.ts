/** Numbers that depend only on a seed. */
export interface Random {
  /** At least 0, below 1. */
  next(): number;
  /** An integer from `least` to `most`, both included. */
  integer(least: number, most: number): number;
  /** True with a probability of 1 / `times`. */
  oneOf(times: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
  /** Picks an item by its weight. */
  pickWeighted<Item>(items: readonly (readonly [weight: number, item: Item])[]): Item;
  uuid(): string;
  /** An independent sequence, unaffected by draws from this one. */
  fork(name: string): Random;
}

/** The generator sfc32, seeded by a hash of text. */
export function createRandom(seed: string): Random {
  let [a, b, c, counter] = hashText(seed);
  const next = () => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 4_294_967_296;
  };
  for (let round = 0; round < 12; round++) next();
  const integer = (least: number, most: number) => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    integer,
    oneOf: (times) => next() * times < 1,
    pick: (items) => {
      if (items.length === 0) throw new Error('nothing to pick from');
      return items[integer(0, items.length - 1)] as (typeof items)[number];
    },
    pickWeighted: (items) => {
      let at = next() * items.reduce((sum, [weight]) => sum + weight, 0);
      const chosen = items.find(([weight]) => {
        at -= weight;
        return at < 0;
      });
      return (chosen ?? (items[0] as (typeof items)[number]))[1];
    },
    uuid: () => {
      const hex = Array.from({ length: 32 }, () => integer(0, 15).toString(16)).join('');
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
    },
    fork: (name) => createRandom(`${seed}/${name}`),
  };
}

/** Four numbers of 32 bits (cyrb128). */
function hashText(text: string): [number, number, number, number] {
  let [h1, h2, h3, h4] = [1_779_033_703, 3_144_134_277, 1_013_904_242, 2_773_480_762];
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    h1 = h2 ^ Math.imul(h1 ^ code, 597_399_067);
    h2 = h3 ^ Math.imul(h2 ^ code, 2_869_860_233);
    h3 = h4 ^ Math.imul(h3 ^ code, 951_274_213);
    h4 = h1 ^ Math.imul(h4 ^ code, 2_716_044_179);
  }
  return [h1 >>> 0, h2 >>> 0, h3 >>> 0, h4 >>> 0];
}
