import { z } from 'zod';
import { chainReadsMessage } from '../../../actors/chain/spans/chainReads.ts';
import { chainSpanFormat } from '../../../actors/chain/spans/chainSpan.ts';
import { moduleSnapshotMessage } from '../../../actors/device/moduleSnapshot.ts';
import { signerMessage } from '../../../actors/device/signerIdentity.ts';
import { address, blockHash, bytes32, transactionHash } from '../../../actors/schemas/wireScalars.ts';
import { oracleMessage } from '../../../actors/settlement/oracleMessage.ts';
import { reporterMessage } from '../../../actors/settlement/reporterMessage.ts';
import { counterReadingMessage } from '../../../actors/wheel/counterReading.ts';

/** Subject and schema of each kind of message, by the name of its JSON Schema. */
const messages: Readonly<Record<string, { readonly subject: string; readonly schema: z.ZodType }>> = {
  CounterReadingMessage: { subject: 'miner.counter.<installation>', schema: counterReadingMessage },
  ModuleSnapshotMessage: { subject: 'miner.module.<installation>.<instance>', schema: moduleSnapshotMessage },
  SignerMessage: { subject: 'miner.signer.<installation>', schema: signerMessage },
  OracleMessage: { subject: 'miner.oracle.<installation>', schema: oracleMessage },
  ReporterMessage: { subject: 'miner.reporter.<installation>', schema: reporterMessage },
  ChainSpanMessage: { subject: 'miner.chain.<chainId>.span', schema: chainSpanFormat.schema },
  ChainReadsMessage: { subject: 'miner.chain.<chainId>.reads', schema: chainReadsMessage },
};

/** Checks that zod runs as functions, as patterns, by their definitions: a schema with a description has the same one. */
const patterns = new Map<unknown, string>([
  [address._zod.def, '^0x[0-9a-f]{40}$'],
  ...[blockHash, bytes32, transactionHash].map((schema) => [schema._zod.def, '^0x[0-9a-f]{64}$'] as const),
]);

/** What JSON Schema cannot say of texts and keys (MESSAGES.md, Common rules). */
const aboutTexts = 'No text or key has half of a surrogate pair, such as \\ud83d';

export const messageSchemaNames: readonly string[] = Object.keys(messages);

/**
 * Writes the JSON Schema (draft 2020-12) of a message. A rule that compares members, such as ascending rounds, has no
 * JSON Schema: `miner check-message` checks those, too.
 */
export function createMessageSchema(title: string): object {
  const { subject, schema } = messages[title] as (typeof messages)[string];
  const converted = z.toJSONSchema(schema, {
    io: 'input',
    override: ({ zodSchema, jsonSchema }) => {
      const pattern = patterns.get(zodSchema._zod.def);
      if (pattern !== undefined) jsonSchema.pattern = pattern;
    },
  });
  return { title, description: `A message on ${subject}. ${aboutTexts}`, ...converted };
}
