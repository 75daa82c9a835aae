import type { PublishedInfo } from '../../../base/machinery/schema/index.js';
import { enumValues } from './enum-values.js';
import { optionGroups } from './option-groups.js';
import { requiredFields } from './required-fields.js';
import { unions } from './unions.js';

/**
 * What release 1.37 publishes about its types beyond their declarations. Only OpenAPI documents need it: load this
 * module when one is made, not at start.
 */
export const publishedInfo: PublishedInfo = { enumValues, optionGroups, requiredFields, unions };
