import { type FieldError, FieldPath, invalid } from '../../../base/machinery/field-error.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import {
  type ResourcePoolStatusRequest,
  resourcePoolStatusRequest,
} from '../../../objects/apis/resource/v1alpha3/resource-pool-status-request.types.js';
import { clientMetadata, statusSubresource } from '../../../objects/registry/definition/parent-subresources.js';
import { defineResource, type ResourceDefinition } from '../../../objects/registry/resource-definition.js';
import { validateDriverName, validatePoolName } from '../validation/device-names.validation.js';
import { poolStatusColumns } from './pool-status.columns.js';

const specPath = FieldPath.of('spec');
const maxLimit = 1000;

/** `resourcepoolstatusrequests`: requests for the number of free devices of pools. */
export function resourcePoolStatusRequestResource(names: VendorNames): ResourceDefinition {
  return defineResource<ResourcePoolStatusRequest>({
    group: groupName('resource', names),
    resource: 'resourcepoolstatusrequests',
    singular: 'resourcepoolstatusrequest',
    kind: 'ResourcePoolStatusRequest',
    namespaced: false,
    versions: [{ version: 'v1alpha3', type: resourcePoolStatusRequest }],
    strategyOptions: { returnsDeletedObject: true },
    strategy: {
      applyDefaults: ({ spec }) => {
        spec.limit ??= 100;
      },
      prepareForCreate: (_context, object) => {
        delete object.status;
      },
      validate: (_context, object) => validateRequest(object),
      validateUpdate: (_context, object, old) =>
        deepEqual(object.spec, old.spec) ? [] : [invalid(specPath, object.spec, 'field is immutable')],
    },
    columns: poolStatusColumns,
    subresources: [statusSubresource<ResourcePoolStatusRequest>({ keptMetadata: clientMetadata })],
  });
}

function validateRequest({ spec: { driver, poolName, limit = 0 } }: ResourcePoolStatusRequest): FieldError[] {
  const path = specPath.child('limit');
  return [
    ...validateDriverName(driver, specPath.child('driver')),
    ...(poolName === undefined ? [] : validatePoolName(poolName, specPath.child('poolName'))),
    ...(limit < 1 ? [invalid(path, limit, 'must be greater than or equal to 1')] : []),
    ...(limit > maxLimit ? [invalid(path, limit, `must be less than or equal to ${maxLimit}`)] : []),
  ];
}
