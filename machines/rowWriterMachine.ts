import { setup } from 'xstate';

export const rowWriterStates = ['idle', 'writing', 'retrying', 'closed'] as const;
export type RowWriterState = (typeof rowWriterStates)[number];

/** The writer of rows: while ClickHouse is away it stays in `retrying` with the batch that failed. */
export const rowWriterMachine = setup({
  types: {
    context: {} as Record<string, never>,
    events: {} as
      | { type: 'rowsAdded' }
      | { type: 'failed' }
      | { type: 'acknowledged' }
      | { type: 'drained' }
      | { type: 'closed' },
  },
}).createMachine({
  id: 'rowWriter',
  context: {},
  initial: 'idle',
  on: { closed: '.closed' },
  states: {
    idle: { on: { rowsAdded: 'writing' } },
    writing: { on: { failed: 'retrying', drained: 'idle' } },
    retrying: { on: { acknowledged: 'writing', drained: 'idle' } },
    closed: { type: 'final' },
  },
});
