/**
 * Installations that the folds of one stream know, twice those that they are measured with (`npm run bench -- installations`). Each takes about
 * 15 KB for as long as the stream lives, so a publisher that makes up names must not continue for ever; one of a further installation is rejected.
 */
export const installationsMax = 20_000;
