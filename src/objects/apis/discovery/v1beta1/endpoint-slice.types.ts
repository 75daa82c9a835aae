import {
  always,
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
import { addressType, endpointConditions, endpointHints } from '../v1/endpoint-slice.types.js';

export const endpoint = struct('discovery.v1beta1.Endpoint', {
  addresses: required(1, list(string), { listType: 'set' }),
  conditions: always(2, endpointConditions, { doc: 'Whether the endpoint can be used.' }),
  hostname: pointer(3, string),
  targetRef: pointer(4, objectReference),
  topology: optional(5, map(string)),
  nodeName: pointer(6, string),
  hints: pointer(7, endpointHints),
});
export type Endpoint = Infer<typeof endpoint>;

export const endpointPort = struct('discovery.v1beta1.EndpointPort', {
  name: pointer(1, string),
  protocol: pointer(2, protocol),
  port: pointer(3, int32),
  appProtocol: pointer(4, string),
});
export type EndpointPort = Infer<typeof endpointPort>;

export const endpointSlice = kind(
  { group: 'discovery', version: 'v1beta1', kind: 'EndpointSlice', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    addressType: required(4, addressType, { doc: 'IPv4, IPv6 or FQDN.' }),
    endpoints: required(2, list(endpoint), { doc: 'The addresses and what is known about them.' }),
    ports: always(3, list(endpointPort), { doc: 'Ports of all addresses.' }),
  },
  { doc: 'Some of the addresses behind a service.' },
);
export type EndpointSlice = Infer<typeof endpointSlice>;

export const endpointSliceList = listKind(endpointSlice);
export type EndpointSliceList = Infer<typeof endpointSliceList>;
