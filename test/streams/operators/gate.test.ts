import { of } from 'rxjs';
import { describe, expect, it, vi } from 'vitest';
import { createGate, leaveGate } from '../../../streams/operators/gate.ts';

const never = new AbortController().signal;

/** Whether a waiting caller has been let through. */
function waitAt(gate: ReturnType<typeof createGate>, signal = never) {
  const waiting = { hasPassed: false };
  void gate.opened(signal).then(() => {
    waiting.hasPassed = true;
  });
  return async () => {
    await new Promise((resolve) => setImmediate(resolve));
    return waiting.hasPassed;
  };
}

describe('a gate', () => {
  it('closes at its bound, and reports each closing', () => {
    const onClosed = vi.fn();
    const gate = createGate({ max: 10, onClosed });
    gate.enter(9);
    expect([gate.isOpen, onClosed.mock.calls.length]).toEqual([true, 0]);
    gate.enter(1);
    gate.enter(5);
    expect([gate.isOpen, onClosed.mock.calls.length]).toEqual([false, 1]);
    gate.leave(6);
    expect(gate.isOpen).toBe(true);
    gate.enter(2);
    expect(onClosed).toHaveBeenCalledTimes(2);
  });

  it('lets items pass while open, or once half is free', async () => {
    const gate = createGate({ max: 10 });
    gate.enter(9);
    expect(await waitAt(gate)()).toBe(true);
    gate.enter(5);
    const hasPassed = waitAt(gate);
    gate.leave(8);
    expect([gate.isOpen, gate.isHalfFull, await hasPassed()]).toEqual([true, true, false]);
    gate.leave(1);
    expect([gate.isHalfFull, await hasPassed()]).toEqual([false, true]);
  });

  it('ends waiting at an abort, before or during the wait', async () => {
    const gate = createGate({ max: 10 });
    gate.enter(10);
    const stopping = new AbortController();
    const hasPassed = waitAt(gate, stopping.signal);
    expect(await hasPassed()).toBe(false);
    stopping.abort();
    expect([await hasPassed(), await waitAt(gate, stopping.signal)()]).toEqual([true, true]);
    expect(gate.isOpen).toBe(false);
  });

  it('is left by every item, even one without weight', () => {
    const gate = createGate({ max: 10 });
    const items = [{ weight: 4 }, { weight: 0 }, { weight: 7 }];
    for (const { weight } of items) gate.enter(weight);
    expect(gate.isOpen).toBe(false);
    const left: unknown[] = [];
    of(...items)
      .pipe(leaveGate(gate))
      .subscribe((item) => left.push([item.weight, gate.isOpen]));
    expect(left).toEqual([
      [4, true],
      [0, true],
      [7, true],
    ]);
    gate.enter(10);
    expect(gate.isOpen).toBe(false);
  });
});
