import { isIPv4 } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import {
  duplicate,
  type FieldError,
  FieldPath,
  invalid,
  notSupported,
  required,
  tooMany,
} from '../../../base/machinery/field-error.js';
import { validateLabels } from '../../../base/machinery/label-rules.js';
import {
  isDns1123Label,
  isDns1123Subdomain,
  isQualifiedName,
  isValidLabelValue,
} from '../../../base/machinery/names.js';
import {
  badIp,
  ipProblem,
  validateNonSpecialIp,
  validatePlainIp,
} from '../../../objects/apis/core/v1/validation/ip-address.validation.js';
import type { Endpoint, EndpointPort, EndpointSlice } from '../../../objects/apis/discovery/v1/endpoint-slice.types.js';
import { canonicalIp } from '../../../objects/apis/networking/v1/validation/ip-network.js';

const addressTypes = ['FQDN', 'IPv4', 'IPv6'];
const protocols = ['SCTP', 'TCP', 'UDP'];
const endpointsPath = FieldPath.of('endpoints');
const portsPath = FieldPath.of('ports');
const addressTypePath = FieldPath.of('addressType');
const maxEndpoints = 1000;
const maxAddresses = 100;
const maxPorts = 100;
const maxTopology = 16;
const maxHints = 8;

/**
 * The field in which labels about an endpoint's place were written: the older version has all of them in `topology`,
 * including the zone.
 */
export type PlaceField = 'topology' | 'deprecatedTopology';

/** Validates a new EndpointSlice. */
export function validateEndpointSlice(slice: EndpointSlice, place: PlaceField): FieldError[] {
  const errors: FieldError[] = [];
  validateContent(slice, place, errors);
  validateAddressType(slice, errors);
  errors.push(...missingAddresses(slice));
  return errors;
}

function validateAddressType({ addressType }: EndpointSlice, errors: FieldError[]): void {
  if (addressType === '') errors.push(required(addressTypePath));
  else if (!addressTypes.includes(addressType)) errors.push(notSupported(addressTypePath, addressType, addressTypes));
}

/** Validates a changed EndpointSlice: it keeps its address type. */
export function validateEndpointSliceUpdate(slice: EndpointSlice, old: EndpointSlice, place: PlaceField): FieldError[] {
  const errors: FieldError[] = [];
  // Unchanged endpoints are checked for the address type for which they were written.
  const isSame = isDeepStrictEqual(slice.endpoints, old.endpoints);
  validateContent(slice, place, errors, isSame ? old.addressType : slice.addressType);
  validateAddressType(slice, errors);
  errors.push(...missingAddresses(slice));
  if (slice.addressType !== old.addressType) errors.push(invalid(addressTypePath, null, 'field is immutable'));
  return errors;
}

function missingAddresses({ endpoints }: EndpointSlice): FieldError[] {
  return (endpoints ?? []).flatMap(({ addresses }, i) =>
    (addresses ?? []).length === 0 ? [required(endpointsPath.index(i).child('addresses'))] : [],
  );
}

/** @param addressType what the addresses must be */
function validateContent(
  slice: EndpointSlice,
  place: PlaceField,
  errors: FieldError[],
  addressType = slice.addressType,
): void {
  const ports = slice.ports ?? [];
  const seen = new Set<string>();
  if (ports.length > maxPorts) errors.push(tooMany(portsPath, ports.length, maxPorts));
  else for (const [i, port] of ports.entries()) validatePort(port, seen, portsPath.index(i), errors);
  const endpoints = slice.endpoints ?? [];
  if (endpoints.length > maxEndpoints) errors.push(tooMany(endpointsPath, endpoints.length, maxEndpoints));
  else {
    for (const [i, endpoint] of endpoints.entries()) {
      validateEndpoint(endpoint, addressType, place, endpointsPath.index(i), errors);
    }
  }
}

function validateEndpoint(
  endpoint: Endpoint,
  addressType: string,
  place: PlaceField,
  path: FieldPath,
  errors: FieldError[],
): void {
  const addresses = endpoint.addresses ?? [];
  const addressesPath = path.child('addresses');
  if (addresses.length > maxAddresses) errors.push(tooMany(addressesPath, addresses.length, maxAddresses));
  else {
    for (const [i, address] of addresses.entries()) {
      errors.push(...addressErrors(address, addressType, addressesPath, i));
    }
  }
  const { nodeName, hostname, zone, deprecatedTopology = {}, hints } = endpoint;
  if (nodeName !== undefined) {
    for (const m of isDns1123Subdomain(nodeName)) errors.push(invalid(path.child('nodeName'), nodeName, m));
  }
  const topologyPath = path.child(place);
  const topologySize = Object.keys(deprecatedTopology).length + (zone !== undefined && place === 'topology' ? 1 : 0);
  if (topologySize > maxTopology) errors.push(tooMany(topologyPath, topologySize, maxTopology));
  errors.push(...validateLabels(deprecatedTopology, topologyPath));
  if (hostname !== undefined) {
    for (const m of isDns1123Label(hostname)) errors.push(invalid(path.child('hostname'), hostname, m));
  }
  if (zone !== undefined && place === 'topology') {
    for (const m of isValidLabelValue(zone)) errors.push(invalid(topologyPath, zone, m));
  }
  if (hints !== undefined) {
    const { forZones = [] } = hints;
    validateHints(forZones, isValidLabelValue, path.child('hints').child('forZones'), errors);
    if (forZones.length > maxHints) return;
    validateHints(hints.forNodes ?? [], isDns1123Subdomain, path.child('hints').child('forNodes'), errors);
  }
}

function validateHints(
  hints: readonly { readonly name: string }[],
  nameErrors: (name: string) => string[],
  path: FieldPath,
  errors: FieldError[],
): void {
  if (hints.length > maxHints) {
    errors.push(tooMany(path, hints.length, maxHints));
    return;
  }
  const seen = new Set<string>();
  for (const [i, { name }] of hints.entries()) {
    const at = path.index(i).child('name');
    if (seen.has(name)) errors.push(duplicate(at, name));
    seen.add(name);
    for (const m of nameErrors(name)) errors.push(invalid(at, name, m));
  }
}

function addressErrors(address: string, addressType: string, list: FieldPath, i: number): FieldError[] {
  const path = list.index(i);
  if (addressType === 'FQDN') return hostErrors(address).map((problem) => invalid(path, address, problem));
  if (addressType !== 'IPv4' && addressType !== 'IPv6') return [];
  const problem = ipProblem(address);
  if (problem !== undefined || address.includes('%')) return [invalid(path, address, problem ?? badIp)];
  const mapped = validatePlainIp(address, path, []);
  if (mapped.length > 0) return mapped;
  const errors: FieldError[] = [];
  if (isIPv4(address) !== (addressType === 'IPv4')) {
    errors.push(invalid(list, address, `must be an ${addressType} address`));
  }
  const canonical = canonicalIp(address);
  if (!isIPv4(address) && canonical !== undefined && canonical !== address) {
    errors.push(invalid(path, address, `must be in canonical form ("${canonical}")`));
  }
  // Nodes send traffic to these addresses: an address of the node itself would expose it to anyone who may write
  // endpoints.
  return [...errors, ...validateNonSpecialIp(address, path)];
}

function hostErrors(address: string): string[] {
  const name = address.endsWith('.') ? address.slice(0, -1) : address;
  const broken = isDns1123Subdomain(name);
  if (broken.length > 0) return broken;
  return name.includes('.') ? [] : ['should be a domain with at least two segments separated by dots'];
}

function validatePort(port: EndpointPort, seen: Set<string>, path: FieldPath, errors: FieldError[]): void {
  const { name = '', protocol, appProtocol } = port;
  if (name !== '') for (const m of isDns1123Label(name)) errors.push(invalid(path.child('name'), name, m));
  if (seen.has(name)) errors.push(duplicate(path.child('name'), name));
  seen.add(name);
  if (protocol === undefined) errors.push(required(path.child('protocol')));
  else if (!protocols.includes(protocol)) errors.push(notSupported(path.child('protocol'), protocol, protocols));
  if (appProtocol !== undefined) {
    for (const m of isQualifiedName(appProtocol)) errors.push(invalid(path.child('appProtocol'), appProtocol, m));
  }
}
