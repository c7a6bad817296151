import fc from 'fast-check';

/**
 * fast-check as every property test takes it: with one seed for all, so that the suite tells of the change at hand and
 * says the same each time. `npm run soak` is what looks for new counterexamples, by new seeds.
 */
fc.configureGlobal({ seed: Number(process.env.PROPERTY_SEED ?? 42) });

export { fc };
