import {
  type FieldError,
  FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
} from '../../../base/machinery/field-error.js';
import { isPortName, isPortNumber } from '../../../base/machinery/names.js';
import { validateLabelSelector } from '../../../objects/apis/meta/v1/validation/label-selector.validation.js';
import type {
  IPBlock,
  NetworkPolicy,
  NetworkPolicyPeer,
  NetworkPolicyPort,
} from '../../../objects/apis/networking/v1/network-policy.types.js';
import { isStrictSubset, parseIpNetwork } from '../../../objects/apis/networking/v1/validation/ip-network.js';

const specPath = FieldPath.of('spec');
const protocols = ['TCP', 'UDP', 'SCTP'];
const policyTypes = ['Ingress', 'Egress'];

/** Broken rules of a NetworkPolicy, new or changed. */
export function validateNetworkPolicy({ spec }: NetworkPolicy): FieldError[] {
  const errors = validateLabelSelector(spec.podSelector, specPath.child('podSelector'));
  for (const [i, rule] of (spec.ingress ?? []).entries()) {
    validateRule(rule.ports, rule.from, specPath.child('ingress').index(i), 'from', errors);
  }
  for (const [i, rule] of (spec.egress ?? []).entries()) {
    validateRule(rule.ports, rule.to, specPath.child('egress').index(i), 'to', errors);
  }
  const types = spec.policyTypes ?? [];
  const typesPath = specPath.child('policyTypes');
  if (types.length > policyTypes.length) {
    errors.push(invalid(typesPath, types, 'may not specify more than two policyTypes'));
    return errors;
  }
  for (const [i, type] of types.entries()) {
    if (!policyTypes.includes(type)) errors.push(notSupported(typesPath.index(i), type, policyTypes));
  }
  return errors;
}

function validateRule(
  ports: readonly NetworkPolicyPort[] | undefined,
  peers: readonly NetworkPolicyPeer[] | undefined,
  path: FieldPath,
  peersField: 'from' | 'to',
  errors: FieldError[],
): void {
  for (const [i, port] of (ports ?? []).entries()) validatePort(port, path.child('ports').index(i), errors);
  for (const [i, peer] of (peers ?? []).entries()) validatePeer(peer, path.child(peersField).index(i), errors);
}

function validatePort({ protocol, port, endPort }: NetworkPolicyPort, path: FieldPath, errors: FieldError[]): void {
  if (protocol !== undefined && !protocols.includes(protocol)) {
    errors.push(notSupported(path.child('protocol'), protocol, protocols));
  }
  const endPath = path.child('endPort');
  if (port === undefined) {
    if (endPort !== undefined)
      errors.push(invalid(endPath, endPort, 'may not be specified when `port` is not specified'));
    return;
  }
  if (typeof port === 'string') {
    for (const m of isPortName(port)) errors.push(invalid(path.child('port'), port, m));
    if (endPort !== undefined)
      errors.push(invalid(endPath, endPort, 'may not be specified when `port` is non-numeric'));
    return;
  }
  for (const m of isPortNumber(port)) errors.push(invalid(path.child('port'), port, m));
  if (endPort === undefined) return;
  if (endPort < port) errors.push(invalid(endPath, endPort, 'must be greater than or equal to `port`'));
  for (const m of isPortNumber(endPort)) errors.push(invalid(endPath, endPort, m));
}

function validatePeer(peer: NetworkPolicyPeer, path: FieldPath, errors: FieldError[]): void {
  errors.push(...validateLabelSelector(peer.podSelector, path.child('podSelector')));
  errors.push(...validateLabelSelector(peer.namespaceSelector, path.child('namespaceSelector')));
  if (peer.ipBlock !== undefined) validateIpBlock(peer.ipBlock, path.child('ipBlock'), errors);
  const hasSelector = peer.podSelector !== undefined || peer.namespaceSelector !== undefined;
  if (peer.ipBlock !== undefined && hasSelector) {
    errors.push(forbidden(path, 'may not specify both ipBlock and another peer'));
  } else if (peer.ipBlock === undefined && !hasSelector) {
    errors.push(required(path, 'must specify a peer'));
  }
}

function validateIpBlock({ cidr, except }: IPBlock, path: FieldPath, errors: FieldError[]): void {
  if (cidr === '') {
    errors.push(required(path.child('cidr')));
    return;
  }
  const network = parseIpNetwork(cidr);
  if (network === undefined) {
    errors.push(invalid(path.child('cidr'), cidr, 'not a valid CIDR'));
    return;
  }
  for (const [i, text] of (except ?? []).entries()) {
    const excluded = parseIpNetwork(text);
    const at = path.child('except').index(i);
    if (excluded === undefined) {
      errors.push(invalid(at, text, 'not a valid CIDR'));
      return;
    }
    if (!isStrictSubset(excluded, network)) errors.push(invalid(at, text, 'must be a strict subset of `cidr`'));
  }
}
