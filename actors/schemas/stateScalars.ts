import { z } from 'zod';

/** Scalar types of folds' states and snapshots. */

/** An amount, a counter or a block number. */
export const amount = z.bigint();
export const count = z.int().min(0);
/** A time since the epoch, or a duration. */
export const milliseconds = z.int();
