export { atomicParts } from './atomic-parts.js';
export { formFaults } from './check-form.js';
export { type Comparison, compareObjects } from './compare.js';
export { type FieldPattern, matchingFields } from './field-pattern.js';
export * from './field-set.js';
export { mergeObjects, withCanonicalValues } from './merge-objects.js';
export { claimedPaths, fitToType, removePaths, withFieldsOnTheWay } from './owned-paths.js';
export { rootView, type StructView, serverFields, zeroObject } from './type-view.js';
