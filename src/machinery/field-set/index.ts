export { allDifferences, type Comparison, compareObjects } from './compare.js';
export * from './field-set.js';
export { rootView, type StructView, zeroObject } from './type-view.js';
