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
import { validateCidr } from '../../../objects/apis/networking/v1/validation/cidr.validation.js';
import { isStrictSubset, parseIpNetwork } from '../../../objects/apis/networking/v1/validation/ip-network.js';

const specPath = FieldPath.of('spec');
const protocols = ['TCP', 'UDP', 'SCTP'];
const policyTypes = ['Ingress', 'Egress'];

/** Validates a NetworkPolicy, new or changed. */
export function validateNetworkPolicy({ spec }: NetworkPolicy, old?: NetworkPolicy): FieldError[] {
  const known = cidrsOf(old);
  const errors = validateLabelSelector(spec.podSelector, specPath.child('podSelector'));
  for (const [i, rule] of (spec.ingress ?? []).entries()) {
    validateRule(rule.ports, rule.from, specPath.child('ingress').index(i), 'from', known, errors);
  }
  for (const [i, rule] of (spec.egress ?? []).entries()) {
    validateRule(rule.ports, rule.to, specPath.child('egress').index(i), 'to', known, errors);
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

function cidrsOf(policy: NetworkPolicy | undefined): ReadonlySet<string> {
  const { ingress, egress } = policy?.spec ?? {};
  const peers = [...(ingress ?? []).flatMap(({ from }) => from ?? []), ...(egress ?? []).flatMap(({ to }) => to ?? [])];
  return new Set(peers.flatMap(({ ipBlock }) => [ipBlock?.cidr ?? '', ...(ipBlock?.except ?? [])]));
}

function validateRule(
  ports: readonly NetworkPolicyPort[] | undefined,
  peers: readonly NetworkPolicyPeer[] | undefined,
  path: FieldPath,
  peersField: 'from' | 'to',
  known: ReadonlySet<string>,
  errors: FieldError[],
): void {
  for (const [i, port] of (ports ?? []).entries()) validatePort(port, path.child('ports').index(i), errors);
  for (const [i, peer] of (peers ?? []).entries()) validatePeer(peer, path.child(peersField).index(i), known, errors);
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

function validatePeer(
  peer: NetworkPolicyPeer,
  path: FieldPath,
  known: ReadonlySet<string>,
  errors: FieldError[],
): void {
  errors.push(...validateLabelSelector(peer.podSelector, path.child('podSelector')));
  errors.push(...validateLabelSelector(peer.namespaceSelector, path.child('namespaceSelector')));
  if (peer.ipBlock !== undefined && peer.ipBlock.cidr !== '') {
    validateIpBlock(peer.ipBlock, path.child('ipBlock'), known, errors);
  }
  const hasSelector = peer.podSelector !== undefined || peer.namespaceSelector !== undefined;
  if (peer.ipBlock !== undefined && hasSelector) {
    errors.push(forbidden(path, 'may not specify both ipBlock and another peer'));
  } else if (peer.ipBlock === undefined && !hasSelector) {
    errors.push(required(path, 'must specify a peer'));
  }
  if (peer.ipBlock?.cidr === '') errors.push(required(path.child('ipBlock').child('cidr')));
}

function validateIpBlock(
  { cidr, except }: IPBlock,
  path: FieldPath,
  known: ReadonlySet<string>,
  errors: FieldError[],
): void {
  // Values that were accepted before stay valid; programs that read them do their own checks anyway.
  if (!known.has(cidr)) errors.push(...validateCidr(cidr, path.child('cidr')));
  const network = parseIpNetwork(cidr);
  if (network === undefined) return;
  for (const [i, text] of (except ?? []).entries()) {
    const excluded = parseIpNetwork(text);
    const at = path.child('except').index(i);
    if (!known.has(text)) errors.push(...validateCidr(text, at));
    if (excluded === undefined) continue;
    if (!isStrictSubset(excluded, network)) errors.push(invalid(at, text, 'must be a strict subset of `cidr`'));
  }
}
