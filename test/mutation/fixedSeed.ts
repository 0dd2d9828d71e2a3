import fc from 'fast-check';

// For `npm run mutate`: every run finds the same mistakes, and failing examples are not shrunk.
fc.configureGlobal({ seed: 1, endOnFailure: true });
// Most mistakes show in the first examples, and a survivor costs all of them.
process.env.MINER_TEST_EFFORT ??= '0.2';
