import { z } from 'zod';

export const count = z.int().min(0);

export const bps = z.int().min(0).max(10_000);

export const minute = z.int().min(0).max(1_410).multipleOf(30);
