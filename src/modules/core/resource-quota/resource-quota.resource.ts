import { ownValue } from '../../../base/machinery/own-value.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import { roundResources } from '../../../objects/apis/core/v1/defaults/resources.defaults.js';
import { type ResourceQuota, resourceQuota } from '../../../objects/apis/core/v1/resource-quota.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import { statusSubresource } from '../../../objects/registry/definition/parent-subresources.js';
import { defineResource, type ResourceDefinition } from '../../../objects/registry/resource-definition.js';
import {
  validateResourceQuota,
  validateResourceQuotaStatus,
  validateResourceQuotaUpdate,
} from './resource-quota.validation.js';

/** ResourceQuotas: limits on the total that a namespace may use (specification 2.4). */
export function resourceQuotaResource(names: VendorNames): ResourceDefinition {
  return defineResource<ResourceQuota>({
    group: '',
    resource: 'resourcequotas',
    singular: 'resourcequota',
    kind: 'ResourceQuota',
    namespaced: true,
    shortNames: ['quota'],
    versions: [{ version: 'v1', type: resourceQuota }],
    strategy: {
      applyDefaults({ spec, status }) {
        roundResources(spec.hard);
        roundResources(status.hard);
        roundResources(status.used);
      },
      validate: (_context, object) => validateResourceQuota(object, names),
      validateUpdate: (_context, object, old) => validateResourceQuotaUpdate(object, old, names),
    },
    strategyOptions: { returnsDeletedObject: true },
    hidesDeletedCollection: true,
    columns: [
      nameColumn,
      {
        name: 'Request',
        type: 'string',
        description: 'Requests and counts: used of allowed.',
        cell: (object) => usageText(object, false),
      },
      {
        name: 'Limit',
        type: 'string',
        description: 'Limits: used of allowed.',
        cell: (object) => usageText(object, true),
      },
      ageColumn,
    ],
    subresources: [
      statusSubresource<ResourceQuota>({ validate: (object) => validateResourceQuotaStatus(object, names) }),
    ],
  });
}

function usageText(object: ResourceQuota, ofLimits: boolean): string {
  const { hard = {}, used = {} } = object.status;
  return Object.keys(hard)
    .filter((name) => name.includes('limits') === ofLimits)
    .sort()
    .map((name) => `${name}: ${ownValue(used, name) ?? '0'}/${hard[name]}`)
    .join(', ');
}
