import type { Bodies } from '../../page.ts';

/** The settlement history where there is one. */
export type History = Extract<Bodies['settlements'], { status: 'available' }>;
