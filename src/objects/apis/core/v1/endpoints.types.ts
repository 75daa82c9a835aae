import {
  always,
  type Infer,
  int32,
  kind,
  list,
  optional,
  pointer,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';
import { listKind } from '../../meta/v1/list-kind.types.js';
import { objectMeta } from '../../meta/v1/object-meta.types.js';
import { protocol } from './container.types.js';
import { objectReference } from './reference.types.js';

export const endpointAddress = struct(
  'core.v1.EndpointAddress',
  {
    ip: required(1, string),
    hostname: optional(3, string),
    nodeName: pointer(4, string),
    targetRef: pointer(2, objectReference),
  },
  { mapType: 'atomic' },
);
export type EndpointAddress = Infer<typeof endpointAddress>;

export const endpointPort = struct(
  'core.v1.EndpointPort',
  {
    name: optional(1, string),
    port: required(2, int32),
    protocol: optional(3, protocol),
    appProtocol: pointer(4, string),
  },
  { mapType: 'atomic' },
);
export type EndpointPort = Infer<typeof endpointPort>;

export const endpointSubset = struct('core.v1.EndpointSubset', {
  addresses: optional(1, list(endpointAddress), { doc: 'Addresses that take requests.' }),
  notReadyAddresses: optional(2, list(endpointAddress), { doc: 'Addresses that take none at present.' }),
  ports: optional(3, list(endpointPort), { doc: 'Ports of the addresses.' }),
});
export type EndpointSubset = Infer<typeof endpointSubset>;

export const endpoints = kind(
  { group: '', version: 'v1', kind: 'Endpoints', scope: 'Namespaced' },
  {
    metadata: always(1, objectMeta),
    subsets: optional(2, list(endpointSubset), { doc: 'Addresses and ports that belong together.' }),
  },
  { doc: 'Addresses behind a service. Endpoint slices say the same for large services.' },
);
export type Endpoints = Infer<typeof endpoints>;

export const endpointsList = listKind(endpoints);
export type EndpointsList = Infer<typeof endpointsList>;
