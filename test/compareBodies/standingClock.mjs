// Loaded into the program before its own modules: its wall clock stands at STANDING_CLOCK. Timers and the monotonic
// clock run on, so that everything that waits or retries behaves as always.
const nowMs = Date.parse(process.env.STANDING_CLOCK);
if (Number.isNaN(nowMs)) throw new Error(`STANDING_CLOCK is ${process.env.STANDING_CLOCK}; expected a time`);

globalThis.Date = new Proxy(Date, {
  construct: (target, given, newTarget) =>
    Reflect.construct(target, given.length === 0 ? [nowMs] : given, newTarget),
  get: (target, name) => (name === 'now' ? () => nowMs : Reflect.get(target, name)),
});
