import {
  always,
  bool,
  enumOf,
  type Infer,
  int32,
  kind,
  list,
  map,
  optional,
  pointer,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { protocol } from '../../core/v1/container.types.js';
import { objectReference } from '../../core/v1/reference.types.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';

export const addressType = enumOf('FQDN');
export type AddressType = Infer<typeof addressType>;

export const endpointConditions = struct('discovery.v1.EndpointConditions', {
  ready: pointer(1, bool),
  serving: pointer(2, bool),
  terminating: pointer(3, bool),
});
export type EndpointConditions = Infer<typeof endpointConditions>;

export const forZone = struct('discovery.v1.ForZone', {
  name: required(1, string),
});
export type ForZone = Infer<typeof forZone>;

export const forNode = struct('discovery.v1.ForNode', {
  name: required(1, string),
});
export type ForNode = Infer<typeof forNode>;

export const endpointHints = struct('discovery.v1.EndpointHints', {
  forZones: optional(1, list(forZone)),
  forNodes: optional(2, list(forNode)),
});
export type EndpointHints = Infer<typeof endpointHints>;

export const endpoint = struct('discovery.v1.Endpoint', {
  addresses: required(1, list(string), { listType: 'set' }),
  conditions: always(2, endpointConditions, { doc: 'Whether the endpoint can be used.' }),
  hostname: pointer(3, string),
  targetRef: pointer(4, objectReference),
  deprecatedTopology: optional(5, map(string)),
  nodeName: pointer(6, string),
  zone: pointer(7, string),
  hints: pointer(8, endpointHints),
});
export type Endpoint = Infer<typeof endpoint>;

export const endpointPort = struct(
  'discovery.v1.EndpointPort',
  {
    name: pointer(1, string),
    protocol: pointer(2, protocol),
    port: pointer(3, int32),
    appProtocol: pointer(4, string),
  },
  { mapType: 'atomic' },
);
export type EndpointPort = Infer<typeof endpointPort>;

export const endpointSlice = kind(
  { group: 'discovery', version: 'v1', kind: 'EndpointSlice', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    addressType: required(4, addressType, { doc: 'IPv4, IPv6 or FQDN.' }),
    endpoints: always(2, list(endpoint), { doc: 'The addresses and what is known about them.' }),
    ports: always(3, list(endpointPort), { doc: 'Ports of all addresses.' }),
  },
  { doc: 'Some of the addresses behind a service.' },
);
export type EndpointSlice = Infer<typeof endpointSlice>;

export const endpointSliceList = listKind(endpointSlice);
export type EndpointSliceList = Infer<typeof endpointSliceList>;
