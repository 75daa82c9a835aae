import { cidrsProblem, defaultDeniedCidrs } from './admission-webhook.options.js';
import { Check, pairProblem } from './check.js';
import { Flag } from './flag.js';

const addressTypes = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'] as const;

/** A kind of address of a node. */
export type NodeAddressKind = (typeof addressTypes)[number];

function typesProblem(values: readonly string[]): string | undefined {
  const unknown = values.filter((value) => !addressTypes.some((type) => type === value));
  if (unknown.length > 0) return `names the unknown type ${unknown.join(', ')}; choose from ${addressTypes.join(', ')}`;
  return values.length === 0 ? 'must name at least one type' : undefined;
}

/** How the agents of nodes are reached (specification 8). */
export class NodeAgentOptions {
  @Flag({
    name: 'kubelet-client-certificate',
    type: 'string',
    unit: 'file',
    usage:
      'Client certificate in PEM with which this server identifies itself to node agents. Read again when it ' +
      'changes.',
  })
  @Check('pair', pairProblem('kubeletClientKey'))
  readonly kubeletClientCertificate: string | undefined = undefined;

  @Flag({
    name: 'kubelet-client-key',
    type: 'string',
    unit: 'file',
    usage: 'Private key in PEM of --kubelet-client-certificate.',
  })
  @Check('pair', pairProblem('kubeletClientCertificate'))
  readonly kubeletClientKey: string | undefined = undefined;

  @Flag({
    name: 'kubelet-certificate-authority',
    type: 'string',
    unit: 'file',
    usage:
      'Authorities in PEM that the certificates of node agents are checked against. Without authorities the ' +
      'connections are encrypted, but the node agent that answers is not verified.',
  })
  readonly kubeletCertificateAuthority: string | undefined = undefined;

  @Flag({
    name: 'kubelet-preferred-address-types',
    type: 'list',
    values: addressTypes,
    unit: 'types',
    usage: `Which address of a node is used: the first of these types that it has, of ${addressTypes.join(', ')}.`,
  })
  @Check('types', typesProblem)
  readonly kubeletPreferredAddressTypes: readonly NodeAddressKind[] = addressTypes;

  @Flag({
    name: 'kubelet-timeout',
    type: 'duration',
    usage: 'How long connecting to a node agent may take, and how long it may take to begin with a log.',
  })
  @Check<number>('duration', (value) => (value > 0 ? undefined : 'must be more than 0'))
  readonly kubeletTimeoutMs: number = 5000;

  @Flag({
    name: 'kubelet-denied-cidrs',
    type: 'list',
    unit: 'ranges',
    usage:
      'Ranges of addresses that node agents must not have, whatever the status of their nodes contains. A list ' +
      'replaces the default, which is that of --admission-webhook-denied-cidrs.',
  })
  @Check('cidrs', cidrsProblem)
  readonly kubeletDeniedCidrs: readonly string[] = defaultDeniedCidrs;
}
