import { type Clock, formatTime } from '../../../base/machinery/clock.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import { type APIService, apiService } from '../../../objects/apis/apiregistration/v1/api-service.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import { statusSubresource } from '../../../objects/registry/definition/parent-subresources.js';
import {
  defineResource,
  type ResourceDefinition,
  type TableColumn,
} from '../../../objects/registry/resource-definition.js';
import { validateAPIService, validateAPIServiceStatus } from './api-service.validation.js';

const defaultPort = 443;

const columns: readonly TableColumn<APIService>[] = [
  nameColumn,
  {
    name: 'Service',
    type: 'string',
    description: 'The service behind which the group version is served; Local for those of this server.',
    cell: ({ spec: { service } }) =>
      service === undefined ? 'Local' : `${service.namespace ?? ''}/${service.name ?? ''}`,
  },
  {
    name: 'Available',
    type: 'string',
    description: 'Whether the group version can be used, and the reason if not.',
    cell: ({ status }) => availability(status),
  },
  ageColumn,
];

function availability({ conditions = [] }: APIService['status']): string {
  const found = conditions.find(({ type }) => type === 'Available');
  if (found === undefined) return 'Unknown';
  return found.status === 'True' ? 'True' : `${found.status} (${found.reason ?? ''})`;
}

/** `apiservices`: which server serves a group version (specification 2.1). */
export function apiServiceResource(names: VendorNames, clock: Clock): ResourceDefinition {
  return defineResource<APIService>({
    group: groupName('apiregistration', names),
    resource: 'apiservices',
    singular: 'apiservice',
    kind: 'APIService',
    namespaced: false,
    categories: ['api-extensions'],
    versions: [{ version: 'v1', type: apiService }],
    strategy: {
      // The rule for the name needs the spec, so `validate` checks it.
      validateName: () => [],
      applyDefaults: ({ spec }) => {
        if (spec.service !== undefined) spec.service.port ??= defaultPort;
      },
      prepareForCreate: (_context, object) => {
        object.status = object.spec.service === undefined ? localStatus(clock.now()) : {};
      },
      validate: (_context, object) => validateAPIService(object),
      validateUpdate: (_context, object) => validateAPIService(object),
    },
    strategyOptions: { allowUnconditionalUpdate: false, plainFinalizers: true },
    subresources: [statusSubresource<APIService>({ validate: ({ status }) => validateAPIServiceStatus(status) })],
    columns,
  });
}

/** A group version that this server serves itself is available from the beginning. */
function localStatus(now: number): APIService['status'] {
  return {
    conditions: [
      {
        type: 'Available',
        status: 'True',
        lastTransitionTime: formatTime(now),
        reason: 'Local',
        message: 'Local APIServices are always available',
      },
    ],
  };
}
