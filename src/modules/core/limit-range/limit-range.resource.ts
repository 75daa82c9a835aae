import { randomUUID } from 'node:crypto';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import { type LimitRange, limitRange } from '../../../objects/apis/core/v1/limit-range.types.js';
import { defineResource, type ResourceDefinition } from '../../../objects/registry/resource-definition.js';
import { applyLimitRangeDefaults } from './limit-range.defaults.js';
import { validateLimitRange } from './limit-range.validation.js';

/** LimitRanges: bounds and default amounts of resources in a namespace. */
export function limitRangeResource(names: VendorNames): ResourceDefinition {
  return defineResource<LimitRange>({
    group: '',
    resource: 'limitranges',
    singular: 'limitrange',
    kind: 'LimitRange',
    namespaced: true,
    shortNames: ['limits'],
    versions: [{ version: 'v1', type: limitRange }],
    strategy: {
      applyDefaults: applyLimitRangeDefaults,
      prepareForCreate(_context, { metadata }) {
        metadata.name ||= randomUUID();
      },
      validate: (_context, object) => validateLimitRange(object, names),
      validateUpdate: (_context, object) => validateLimitRange(object, names),
    },
    strategyOptions: { allowCreateOnUpdate: true },
  });
}
