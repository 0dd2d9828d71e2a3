import { z } from 'zod';

/** The most entries of any page of a list (CONTRACT.md). */
export const pageMax = 100;

export const cursor = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,512}$/)
  .meta({ id: 'Cursor', description: 'Opaque; sent back unchanged' });
