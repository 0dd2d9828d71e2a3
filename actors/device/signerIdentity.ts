import { z } from 'zod';
import type { Inferred } from '../../machines/inferred.ts';
import { milliseconds } from '../schemas/stateScalars.ts';
import { timestamp } from '../schemas/wireScalars.ts';
import { withoutDefaults } from '../schemas/withoutDefaults.ts';

/**
 * The signing key of an installation, published on `miner.signer.<installation>` (MESSAGES.md, Signer).
 * One documented kind contains a vendor's name that the contract does not spell out. Therefore `kind` accepts any name of this form.
 */
export const signerMessage = z.object({
  kind: z
    .string()
    .regex(/^[a-z0-9][a-z0-9-]{2,63}$/, 'expected a signer kind such as software-ecdsa')
    .describe('The kind of the signer'),
  algorithm: z.string().min(1).max(128).describe('The algorithm of its signatures, such as `secp256k1`'),
  keySlot: z
    .string()
    .min(1)
    .max(128)
    .describe('The place of the key in the signer, by the name that the signer gives it'),
  enrolledAt: timestamp.describe('When the key was enrolled'),
  lastVerifiedAt: timestamp.describe('When a signature of the key was last verified'),
  lastSignature: z
    .string()
    .regex(
      /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{4}|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{2}==)$/,
      'expected base64',
    )
    .max(4096)
    .describe('That signature, in base64'),
});
export type SignerMessage = z.infer<typeof signerMessage>;

/** A stored signing key: times in epoch milliseconds. */
export const signerIdentity = z.strictObject(
  withoutDefaults(
    signerMessage
      .omit({ enrolledAt: true, lastVerifiedAt: true })
      .extend({ enrolledAtMs: milliseconds, lastVerifiedAtMs: milliseconds }).shape,
  ),
);
export type SignerIdentity = Inferred<typeof signerIdentity>;
