/**
 * Installations that the folds of one stream know, twice as many as were measured: 10,000 with a reading per second each took a third of a core. Each takes about
 * 15 KB for as long as the stream lives, so a publisher that makes up names must not continue for ever; one of a further installation is rejected.
 */
export const installationsMax = 20_000;
