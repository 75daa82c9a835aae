import { isIP } from 'node:net';
import { IsIn, Max, Min } from 'class-validator';
import { quantityMilliValue } from '../machinery/values/quantity.js';
import { Check } from './check.js';
import { Flag } from './flag.js';
import { declareIgnored } from './ignored-flags.js';

function addressesProblem(addresses: readonly string[]): string | undefined {
  return addresses.every((address) => isIP(address) !== 0) ? undefined : 'must be IP addresses';
}

function absoluteProblem(path: string): string | undefined {
  return path.startsWith('/') ? undefined : 'must be an absolute path';
}

function socketProblem(endpoint: string | undefined): string | undefined {
  return endpoint === undefined || endpoint.startsWith('unix://')
    ? undefined
    : 'must be a socket such as unix:///run/x.sock';
}

/** Names of network interfaces that are words in configurations. */
const bridgeName = /^[A-Za-z0-9_.-]{1,15}$/;

function only(choice: string): (value: string) => string | undefined {
  return (value) => (value === choice ? undefined : `must be ${choice}, which is the only choice so far`);
}

const cpuManagerPolicies = ['none', 'static'];
const cpuSetForm = /^\d+(-\d+)?(,\d+(-\d+)?)*$/;
const amountForm = /^(cpu|memory|ephemeral-storage|pid)=(.+)$/;

function amountsProblem(pairs: readonly string[]): string | undefined {
  const isAmount = (pair: string) => {
    const [, , amount] = amountForm.exec(pair) ?? [];
    try {
      return amount !== undefined && quantityMilliValue(amount) >= 0;
    } catch {
      return false;
    }
  };
  return pairs.every(isAmount) ? undefined : 'must be amounts of cpu, memory, ephemeral-storage or pid: cpu=200m';
}

/** The container runtime of a node agent, and the resources of the node that pods may use (specification 8). */
export class AgentPodsOptions {
  @Flag({
    name: 'container-runtime-endpoint',
    type: 'string',
    unit: 'socket',
    usage: 'Socket of a runtime that speaks version 1 of the container runtime interface.',
  })
  @Check('socket', socketProblem)
  readonly containerRuntimeEndpoint: string = 'unix:///run/containerd/containerd.sock';

  @Flag({
    name: 'image-service-endpoint',
    type: 'string',
    unit: 'socket',
    usage: 'Socket of the image service. Default: that of --container-runtime-endpoint.',
  })
  @Check('socket', socketProblem)
  readonly imageServiceEndpoint: string | undefined = undefined;

  @Flag({
    name: 'runtime-request-timeout',
    type: 'duration',
    usage:
      'How long the runtime may take to answer, apart from calls that take long by nature: pulls, stops, commands.',
  })
  @Check<number>('positive', (value) => (value > 0 ? undefined : 'must be more than 0'))
  readonly runtimeRequestTimeoutMs: number = 120_000;

  @Flag({
    name: 'root-dir',
    type: 'string',
    unit: 'folder',
    usage:
      'Folder of volumes and other files of pods. The agent writes files of pods only here and, for logs, into ' +
      '--pod-logs-dir.',
  })
  @Check('absolute', absoluteProblem)
  readonly rootDir: string = '/var/lib/kubelet';

  @Flag({ name: 'pod-logs-dir', type: 'string', unit: 'folder', usage: 'Where the runtime writes logs of containers.' })
  @Check('absolute', absoluteProblem)
  readonly podLogsDir: string = '/var/log/pods';

  @Flag({
    name: 'cni-conf-dir',
    type: 'string',
    unit: 'folder',
    usage:
      'Where the runtime looks for its network configuration. If nobody else has put one there, the agent writes one for the ' +
      "node's podCIDRs, with the plugins bridge, host-local and portmap. Empty: it writes none.",
  })
  @Check('absolute', (path: string) => (path === '' ? undefined : absoluteProblem(path)))
  readonly cniConfDir: string = '/etc/cni/net.d';

  @Flag({
    name: 'cni-bridge',
    type: 'string',
    unit: 'name',
    usage:
      'Bridge in the configuration that the agent writes to --cni-conf-dir. Two agents on one machine need different ones.',
  })
  @Check('name', (name: string) => (bridgeName.test(name) ? undefined : 'must be the name of an interface'))
  readonly cniBridge: string = 'cni0';

  @Flag({
    name: 'cni-check-senders',
    type: 'bool',
    usage:
      'Let pods on the bridge of --cni-bridge send under their own addresses only, so that no pod passes network policies as ' +
      'another one. Switch it off for pods that forward packets of others, such as routers and VPNs. Needs the program nft.',
  })
  readonly cniCheckSenders: boolean = true;

  @Flag({
    name: 'cluster-dns',
    type: 'list',
    unit: 'addresses',
    usage: 'Name servers that pods use. Default: those of the machine.',
  })
  @Check('addresses', addressesProblem)
  readonly clusterDns: readonly string[] = [];

  @Flag({
    name: 'cluster-domain',
    type: 'string',
    unit: 'domain',
    usage: 'Domain of the names of services, in which pods search short names.',
  })
  readonly clusterDomain: string = '';

  @Flag({
    name: 'resolv-conf',
    type: 'string',
    unit: 'path',
    usage: "The machine's settings for name lookups, which pods get. Empty: none.",
  })
  readonly resolvConf: string = '/etc/resolv.conf';

  @Flag({
    name: 'cgroup-root',
    type: 'string',
    unit: 'cgroup',
    usage: 'Cgroup below which the cgroups of pods are made. Two agents on one machine need different ones.',
  })
  @Check('absolute', absoluteProblem)
  readonly cgroupRoot: string = '/';

  @Flag({
    name: 'cgroup-driver',
    type: 'string',
    values: ['cgroupfs'],
    usage: 'How cgroups are made: cgroupfs writes to the file system of the kernel. The runtime must do the same.',
  })
  @Check('driver', only('cgroupfs'))
  readonly cgroupDriver: string = 'cgroupfs';

  @Flag({ name: 'cpu-cfs-quota', type: 'bool', usage: 'Whether CPU limits of containers are enforced.' })
  readonly cpuCfsQuota: boolean = true;

  @Flag({ name: 'cpu-cfs-quota-period', type: 'duration', usage: 'Period over which CPU limits hold: 1ms to 1s.' })
  @Check<number>('period', (value) => (value >= 1 && value <= 1000 ? undefined : 'must be between 1ms and 1s'))
  readonly cpuCfsQuotaPeriodMs: number = 100;

  @Flag({
    name: 'cpu-manager-policy',
    type: 'string',
    values: cpuManagerPolicies,
    usage:
      'static: containers of guaranteed pods that ask for whole CPUs have them for themselves. none: all containers share ' +
      'all CPUs. To change it, drain the node and remove cpu_manager_state from --root-dir.',
  })
  @IsIn(cpuManagerPolicies, { message: `must be one of ${cpuManagerPolicies.join(', ')}` })
  readonly cpuManagerPolicy: 'none' | 'static' = 'none';

  @Flag({
    name: 'cpu-manager-reconcile-period',
    type: 'duration',
    usage: 'How often --cpu-manager-policy=static checks that running containers are on their CPUs.',
  })
  @Check<number>('positive', (value) => (value > 0 ? undefined : 'must be more than 0'))
  readonly cpuManagerReconcilePeriodMs: number = 10_000;

  @Flag({
    name: 'reserved-cpus',
    type: 'string',
    unit: 'CPUs',
    usage:
      'CPUs that are never assigned to one container alone, such as 0-1. Replaces cpu of --kube-reserved and ' +
      '--system-reserved.',
  })
  @Check('cpus', (text: string) => (text === '' || cpuSetForm.test(text) ? undefined : 'must be CPUs such as 0-1,4'))
  readonly reservedCpus: string = '';

  @Flag({
    name: 'kube-reserved',
    type: 'list',
    unit: 'amounts',
    usage: 'Resources set aside for the programs of the cluster, such as cpu=200m,memory=500Mi: pods get the rest.',
  })
  @Check('amounts', amountsProblem)
  readonly kubeReserved: readonly string[] = [];

  @Flag({
    name: 'system-reserved',
    type: 'list',
    unit: 'amounts',
    usage:
      'Resources set aside for all other programs of the machine, such as cpu=200m,memory=500Mi: pods get the rest.',
  })
  @Check('amounts', amountsProblem)
  readonly systemReserved: readonly string[] = [];

  @Flag({
    name: 'memory-manager-policy',
    type: 'string',
    values: ['None'],
    usage: 'How containers get memory near their CPUs: None.',
  })
  @Check('policy', only('None'))
  readonly memoryManagerPolicy: string = 'None';

  @Flag({
    name: 'topology-manager-policy',
    type: 'string',
    values: ['none'],
    usage:
      'Whether CPUs and devices of a container are chosen near each other. Only none, which does not, is supported.',
  })
  @Check('policy', only('none'))
  readonly topologyManagerPolicy: string = 'none';

  @Flag({ name: 'serialize-image-pulls', type: 'bool', usage: 'Whether images are pulled one at a time.' })
  readonly serializeImagePulls: boolean = true;

  @Flag({
    name: 'event-qps',
    type: 'int',
    unit: 'events/s',
    usage: 'Events that the agent writes each second, after a burst; others wait. 0: no limit.',
  })
  @Min(0, { message: 'must be 0 or more' })
  readonly eventQps: number = 5;

  @Flag({
    name: 'event-burst',
    type: 'int',
    unit: 'events',
    usage: 'Events that the agent may write at once, before --event-qps limits them.',
  })
  @Min(1, { message: 'must be 1 or more' })
  readonly eventBurst: number = 10;
}

declareIgnored(AgentPodsOptions, [
  {
    why: 'the network plugins of the runtime make interfaces and rules',
    flags: 'string: hairpin-mode=promiscuous-bridge int: iptables-drop-bit=15 iptables-masquerade-bit=14',
  },
]);

// A bit of the mark of a packet has to be one, whether this program uses it or not.
for (const flag of ['iptables-drop-bit', 'iptables-masquerade-bit']) {
  Min(0, { message: 'must be between 0 and 31' })(AgentPodsOptions.prototype, flag);
  Max(31, { message: 'must be between 0 and 31' })(AgentPodsOptions.prototype, flag);
}
