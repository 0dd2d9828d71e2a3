/** The real clock, kept before it is replaced. */
export const realSetImmediate = setImmediate;
export const realNowMs: () => number = performance.now.bind(performance);
