import type { ApiObject } from '../../../base/machinery/api-object.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import {
  type Endpoint,
  type EndpointSlice,
  endpointSlice,
} from '../../../objects/apis/discovery/v1/endpoint-slice.types.js';
import {
  type Endpoint as BetaEndpoint,
  type EndpointSlice as BetaEndpointSlice,
  endpointSlice as betaEndpointSlice,
} from '../../../objects/apis/discovery/v1beta1/endpoint-slice.types.js';
import { asVersion, deprecation } from '../../../objects/registry/definition/served-version.js';
import type { ServedVersion } from '../../../objects/registry/resource-definition.js';

/**
 * `v1beta1`: labels in `topology` describe where an endpoint's node is. `v1` has fields for the zone and the node;
 * other labels are kept in `deprecatedTopology`. A hostname label that repeats the node's name is shown only in
 * `v1beta1`; a hostname label that differs is kept.
 */
export function servedV1beta1(names: VendorNames, applyDefaults: (slice: EndpointSlice) => void): ServedVersion {
  const zoneLabel = `topology.${names.labelPrefix}/zone`;
  const hostnameLabel = `${names.labelPrefix}/hostname`;

  const toStored = ({ topology, ...endpoint }: BetaEndpoint): Endpoint => {
    if (topology === undefined) return endpoint;
    const { [zoneLabel]: zone, ...labels } = topology;
    if (labels[hostnameLabel] === endpoint.nodeName) delete labels[hostnameLabel];
    return { ...endpoint, zone, deprecatedTopology: labels };
  };
  const fromStored = ({ zone, deprecatedTopology, ...endpoint }: Endpoint): BetaEndpoint => {
    const { nodeName } = endpoint;
    const topology: Record<string, string> = { ...deprecatedTopology };
    if (zone !== undefined) topology[zoneLabel] = zone;
    if (nodeName !== undefined) topology[hostnameLabel] ??= nodeName;
    return { ...endpoint, topology };
  };

  return {
    version: 'v1beta1',
    type: betaEndpointSlice,
    toStored: (object) => {
      const slice = object as ApiObject & BetaEndpointSlice;
      return asVersion(endpointSlice, { ...slice, endpoints: slice.endpoints?.map(toStored) });
    },
    fromStored: (object) => {
      const slice = object as ApiObject & EndpointSlice;
      return asVersion(betaEndpointSlice, { ...slice, endpoints: slice.endpoints?.map(fromStored) });
    },
    applyDefaults: (object) => applyDefaults(object as EndpointSlice),
    deprecated: deprecation({
      group: groupName('discovery', names),
      version: 'v1beta1',
      kind: 'EndpointSlice',
      since: '1.21',
      removed: '1.25',
      replacement: 'v1',
    }),
  };
}
