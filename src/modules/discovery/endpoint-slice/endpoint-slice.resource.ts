import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import type { RequestContext } from '../../../base/machinery/request-context.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import { type EndpointSlice, endpointSlice } from '../../../objects/apis/discovery/v1/endpoint-slice.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import {
  defineResource,
  type ResourceDefinition,
  type TableColumn,
} from '../../../objects/registry/resource-definition.js';
import { servedV1beta1 } from './endpoint-slice.conversion.js';
import { type PlaceField, validateEndpointSlice, validateEndpointSliceUpdate } from './endpoint-slice.validation.js';

const maxShown = 3;

const columns: readonly TableColumn<EndpointSlice>[] = [
  nameColumn,
  {
    name: 'AddressType',
    type: 'string',
    description: 'Kind of the addresses.',
    cell: (slice) => slice.addressType,
  },
  {
    name: 'Ports',
    type: 'string',
    description: 'Ports of every endpoint.',
    cell: (slice) =>
      shorten((slice.ports ?? []).map(({ name, port }) => (port === undefined ? (name ?? '*') : `${port}`))),
  },
  {
    name: 'Endpoints',
    type: 'string',
    description: 'Addresses of the endpoints.',
    cell: (slice) => shorten((slice.endpoints ?? []).flatMap((endpoint) => endpoint.addresses ?? [])),
  },
  ageColumn,
];

/** `endpointslices`: the addresses of a service's pods. */
export function endpointSliceResource(names: VendorNames): ResourceDefinition {
  return defineResource<EndpointSlice>({
    group: groupName('discovery', names),
    resource: 'endpointslices',
    singular: 'endpointslice',
    kind: 'EndpointSlice',
    namespaced: true,
    versions: [{ version: 'v1', type: endpointSlice }, servedV1beta1(names, applyEndpointSliceDefaults)],
    // Labels say to which service it belongs, so they count.
    strategyOptions: {
      generation: ({ addressType, endpoints, ports, metadata }) => ({
        addressType,
        endpoints,
        ports,
        labels: metadata.labels,
      }),
    },
    strategy: {
      applyDefaults: applyEndpointSliceDefaults,
      prepareForCreate: (context, slice) => {
        if (!knowsTopology(context)) dropTopology(slice);
      },
      prepareForUpdate: (context, slice, old) => {
        if (!knowsTopology(context) && !deepEqual(topologyOf(slice), topologyOf(old))) dropTopology(slice);
      },
      warnings: (_context, { addressType }, old) =>
        old === undefined && addressType === 'FQDN' ? ['spec.addressType: FQDN endpoints are deprecated'] : [],
      validate: (context, slice) => validateEndpointSlice(slice, placeField(context)),
      validateUpdate: (context, slice, old) => validateEndpointSliceUpdate(slice, old, placeField(context)),
    },
    columns,
  });
}

/** Labels about a node's place are set only through the older version; the newer one can only leave them unchanged. */
function knowsTopology({ requestInfo }: RequestContext): boolean {
  return requestInfo.apiVersion === 'v1beta1';
}

function placeField(context: RequestContext): PlaceField {
  return knowsTopology(context) ? 'topology' : 'deprecatedTopology';
}

function topologyOf({ endpoints }: EndpointSlice): unknown[] {
  return (endpoints ?? []).map(({ deprecatedTopology }) => deprecatedTopology ?? null);
}

function dropTopology({ endpoints }: EndpointSlice): void {
  for (const endpoint of endpoints ?? []) delete endpoint.deprecatedTopology;
}

/** Ports have an empty name and use TCP by default. */
function applyEndpointSliceDefaults(slice: EndpointSlice): void {
  for (const port of slice.ports ?? []) {
    port.name ??= '';
    port.protocol ??= 'TCP';
  }
}

function shorten(texts: readonly string[]): string {
  const shown = texts.slice(0, maxShown).join(',');
  if (texts.length > maxShown) return `${shown} + ${texts.length - maxShown} more...`;
  return shown || '<unset>';
}
