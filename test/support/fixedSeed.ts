import fc from 'fast-check';

// For `npm run mutate`: a mistake is found by each run or by none, and nobody waits for the shortest example.
fc.configureGlobal({ seed: 1, endOnFailure: true });
