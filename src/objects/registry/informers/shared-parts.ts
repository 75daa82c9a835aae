import { PackedParts } from '../../../base/machinery/packed/packed-parts.js';

/**
 * The large parts of the objects of all informers of the process: equal ones are kept once, and all share one budget.
 */
export const sharedParts = new PackedParts();
