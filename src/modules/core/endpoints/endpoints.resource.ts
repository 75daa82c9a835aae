import { type Endpoints, endpoints } from '../../../objects/apis/core/v1/endpoints.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import { defineResource, type ResourceDefinition } from '../../../objects/registry/resource-definition.js';
import { validateEndpoints } from './endpoints.validation.js';

const shownAddresses = 3;

const deprecated = 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice';

/** Endpoints: the addresses of a service's pods. */
export function endpointsResource(): ResourceDefinition {
  return defineResource<Endpoints>({
    group: '',
    resource: 'endpoints',
    singular: 'endpoints',
    kind: 'Endpoints',
    namespaced: true,
    shortNames: ['ep'],
    versions: [{ version: 'v1', type: endpoints, deprecated: { warning: deprecated, removedRelease: '' } }],
    strategy: {
      applyDefaults: applyEndpointsDefaults,
      validate: (_context, object) => validateEndpoints(object),
      validateUpdate: (_context, object) => validateEndpoints(object),
    },
    strategyOptions: { allowCreateOnUpdate: true },
    columns: [
      nameColumn,
      {
        name: 'Endpoints',
        type: 'string',
        description: 'The first ready addresses.',
        cell: addressesText,
      },
      ageColumn,
    ],
  });
}

/** Ports use TCP by default. */
function applyEndpointsDefaults(object: Endpoints): void {
  for (const subset of object.subsets ?? []) for (const port of subset.ports ?? []) port.protocol ||= 'TCP';
}

function addressesText(object: Endpoints): string {
  const shown: string[] = [];
  let total = 0;
  for (const { addresses = [], ports = [] } of object.subsets ?? []) {
    if (ports.length === 0) {
      for (const { ip } of addresses) if (shown.length < shownAddresses) shown.push(ip);
      total = Math.max(total, shown.length);
      continue;
    }
    for (const { port } of ports) {
      for (const { ip } of addresses) {
        if (shown.length < shownAddresses) shown.push(ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`);
        total++;
      }
    }
  }
  if (shown.length === 0) return '<none>';
  return total > shownAddresses ? `${shown.join(',')} + ${total - shownAddresses} more...` : shown.join(',');
}
