import type { Bodies, PageChain } from '../page.ts';

type Target = PageChain['target'];

/** Name of the chain as a label, and within a sentence. */
const networks: Readonly<Record<Target, readonly [label: string, inSentence: string]>> = {
  mainnet: ['Ethereum', 'Ethereum'],
  sepolia: ['Sepolia test network', 'the Sepolia test network'],
  anvil: ['Local test chain', 'a local test chain'],
};

export const nameNetwork = (target: Target) => networks[target][0];

/** Name within a sentence. Without contracts it is the chain that the project is for. */
export const nameChain = (chain: PageChain | null) => networks[chain?.target ?? 'mainnet'][1];

export const capitalize = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

/**
 * What is not real: a simulated wheel, or a chain whose tokens are worth nothing; `short` is for titles. Null if the wheel and its chain are
 * real, or not known.
 */
export function describeUnreal(status: Bodies['status'] | null, chain: { target: Target } | null) {
  const target = chain?.target ?? 'mainnet';
  const label = networks[target][0];
  switch (status?.measurement?.provenance) {
    case 'simulated':
      return { short: 'simulated', sentence: 'Simulated figures, nothing is real.' };
    case 'replay':
      return { short: 'replay', sentence: 'Replay of a recording: these figures are not live.' };
    default:
      return target === 'mainnet'
        ? null
        : { short: label, sentence: `${label}: its tokens are worth nothing.` };
  }
}
