import { isIP } from 'node:net';
import { Min } from 'class-validator';
import { Check } from './check.js';
import { Flag } from './flag.js';
import { parseCidr } from './network.js';
import { hostnameOverrideFlag, nodeLeaseDurationFlag } from './shared-flags.js';

const name = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

function pairsProblem(pairs: readonly string[]): string | undefined {
  return pairs.every((pair) => /^[^=\s]+=[^=\s]*$/.test(pair)) ? undefined : 'must be pairs such as disk=ssd';
}

function taintsProblem(taints: readonly string[]): string | undefined {
  const form = /^[^=:\s]+(=[^=:\s]*)?:(NoSchedule|PreferNoSchedule|NoExecute)$/;
  return taints.every((taint) => form.test(taint)) ? undefined : 'must be taints such as key=value:NoSchedule';
}

function addressesProblem(addresses: readonly string[]): string | undefined {
  return addresses.every((address) => isIP(address) !== 0) ? undefined : 'must be IP addresses';
}

function positive(value: number): string | undefined {
  return value > 0 ? undefined : 'must be more than 0';
}

/** The Node object that an agent registers for its machine (specification 8). */
export class AgentNodeOptions {
  @Flag(hostnameOverrideFlag)
  @Check<string | undefined>('name', (text) =>
    text === undefined || name.test(text) ? undefined : 'must be small letters, digits, - and .',
  )
  readonly hostnameOverride: string | undefined = undefined;

  @Flag({
    name: 'node-ip',
    type: 'list',
    unit: 'addresses',
    usage: 'Addresses of the node. Default: that of the interface with the default route.',
  })
  @Check('addresses', addressesProblem)
  readonly nodeIP: readonly string[] = [];

  @Flag({ name: 'node-labels', type: 'list', unit: 'pairs', usage: 'Labels of the node when it is registered.' })
  @Check('pairs', pairsProblem)
  readonly nodeLabels: readonly string[] = [];

  @Flag({
    name: 'register-node',
    type: 'bool',
    usage: 'Whether the agent creates its node in the API. When false, somebody else must create it.',
  })
  readonly registerNode: boolean = true;

  @Flag({
    name: 'register-schedulable',
    type: 'bool',
    usage: 'Whether the scheduler may use the node at once when it is registered.',
  })
  readonly registerSchedulable: boolean = true;

  @Flag({
    name: 'register-with-taints',
    type: 'list',
    unit: 'taints',
    usage: 'Taints of the node when it is registered, such as key=value:NoSchedule.',
  })
  @Check('taints', taintsProblem)
  readonly registerWithTaints: readonly string[] = [];

  @Flag({ name: 'max-pods', type: 'int', unit: 'pods', usage: 'How many pods the node takes.' })
  @Min(0, { message: 'must be 0 or more' })
  readonly maxPods: number = 110;

  @Flag({
    name: 'pod-cidr',
    type: 'string',
    unit: 'cidr',
    usage: 'Addresses of pods for the network of the runtime, as long as the node has no podCIDR in the API.',
  })
  @Check<string>('range', (text) =>
    text === '' || parseCidr(text) !== undefined ? undefined : 'must be a range such as 10.128.0.0/24',
  )
  readonly podCidr: string = '';

  @Flag({
    name: 'node-status-update-frequency',
    type: 'duration',
    usage: 'How often the agent looks at the state of the node. Changes are reported at once.',
  })
  @Check('positive', positive)
  readonly nodeStatusUpdateFrequencyMs: number = 10_000;

  @Flag({
    name: 'node-status-report-frequency',
    type: 'duration',
    usage: 'How often the state of the node is reported although nothing has changed.',
  })
  @Check('positive', positive)
  readonly nodeStatusReportFrequencyMs: number = 300_000;

  @Flag(nodeLeaseDurationFlag)
  @Check<number>('duration', (value) => (value >= 1000 ? undefined : 'must be 1s or more'))
  readonly nodeLeaseMs: number = 40_000;

  @Flag({
    name: 'fail-swap-on',
    type: 'bool',
    usage: 'Whether to refuse to start on a machine with swap space.',
  })
  readonly failSwapOn: boolean = true;
}
