import { quantityMilliValue, quantityValue } from '../../../base/machinery/values/quantity.js';
import type { Taint } from '../../../objects/apis/core/v1/affinity.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import { sysctlName } from '../containers/sysctl-name.js';
import type { PodEnd } from './pod-end.js';

/** The node, as admission of pods sees it. */
export interface AdmissionNode {
  readonly labels: Readonly<Record<string, string>>;
  readonly taints: readonly Taint[];
  readonly allocatable: Readonly<Record<string, string>>;
}

/** Kernel parameters that affect only the pod itself. */
const safeSysctls = new Set([
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
  'net.ipv4.tcp_rmem',
  'net.ipv4.tcp_wmem',
]);

/** Why the node refuses a pod in addition to its present pods; undefined if it accepts the pod. */
export function admissionProblem(pod: Pod, others: readonly Pod[], node: AdmissionNode): PodEnd | undefined {
  const { spec } = pod;
  const sysctls = (spec.securityContext?.sysctls ?? []).map(({ name }) => sysctlName(name));
  const unsafe = sysctls.find((name) => !safeSysctls.has(name));
  if (unsafe !== undefined) {
    return { reason: 'SysctlForbidden', message: `forbidden sysctl: "${unsafe}" not allowlisted` };
  }
  if (spec.os?.name !== undefined && spec.os.name !== 'linux') {
    return {
      reason: 'PodOSNotSupported',
      message: "Failed to admit pod as the OS field doesn't match node OS",
    };
  }
  const selector = Object.entries(spec.nodeSelector ?? {});
  if (selector.some(([key, value]) => node.labels[key] !== value)) {
    return {
      reason: 'NodeAffinity',
      message: "Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector",
    };
  }
  const taint = node.taints.find((each) => each.effect === 'NoExecute' && !isTolerated(pod, each));
  if (taint !== undefined) {
    return { reason: 'TaintToleration', message: 'Predicate TaintToleration failed' };
  }
  return portProblem(pod, others) ?? resourceProblem(pod, others, node);
}

function isTolerated({ spec }: Pod, taint: Taint): boolean {
  return (spec.tolerations ?? []).some(({ key, operator, value, effect }) => {
    if (effect && effect !== taint.effect) return false;
    if (!key) return operator === 'Exists';
    return key === taint.key && (operator === 'Exists' || (value ?? '') === (taint.value ?? ''));
  });
}

function hostPorts({ spec }: Pod): string[] {
  return (spec.containers ?? []).flatMap(({ ports }) =>
    (ports ?? [])
      .filter(({ hostPort }) => (hostPort ?? 0) > 0)
      .map(({ hostPort, protocol, hostIP }) => `${hostIP || '0.0.0.0'} ${protocol ?? 'TCP'} ${hostPort}`),
  );
}

function portProblem(pod: Pod, others: readonly Pod[]): PodEnd | undefined {
  const taken = new Set(others.flatMap(hostPorts));
  return hostPorts(pod).some((port) => taken.has(port))
    ? {
        reason: 'NodePorts',
        message: "Predicate NodePorts failed: node(s) didn't have free ports for the requested pod ports",
      }
    : undefined;
}

/** The requests of a pod: the sum of its containers, or the largest init container if that is more. */
export function podRequest({ spec }: Pod, name: string): number {
  const read = name === 'cpu' ? quantityMilliValue : quantityValue;
  const of = (each: { readonly resources?: { readonly requests?: Record<string, string> | null } | null }) =>
    read(each.resources?.requests?.[name] ?? '0');
  const own = spec.resources?.requests?.[name];
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  const tasks = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy !== 'Always');
  const sum = (all: readonly Parameters<typeof of>[0][]) => all.reduce((total, each) => total + of(each), 0);
  const running = sum([...(spec.containers ?? []), ...sidecars]);
  const most = Math.max(running, ...tasks.map((task) => of(task) + sum(sidecars)));
  return (own === undefined ? most : read(own)) + read(spec.overhead?.[name] ?? '0');
}

/**
 * The resource of which the node has too little for a pod in addition to the others; undefined if it has enough of all.
 */
export function resourceProblem(pod: Pod, others: readonly Pod[], { allocatable }: AdmissionNode): PodEnd | undefined {
  const most = Number(allocatable.pods ?? Number.POSITIVE_INFINITY);
  const out = (resource: string, requested: number, used: number, capacity: number): PodEnd => ({
    reason: `OutOf${resource}`,
    message: `Node didn't have enough resource: ${resource}, requested: ${requested}, used: ${used}, capacity: ${capacity}`,
  });
  if (others.length + 1 > most) return out('pods', 1, others.length, most);
  // Extended resources that the node does not know are left to other components.
  const extended = Object.keys(allocatable).filter((name) => name.includes('/'));
  for (const name of ['cpu', 'memory', 'ephemeral-storage', ...extended]) {
    const requested = podRequest(pod, name);
    if (requested === 0 || allocatable[name] === undefined) continue;
    const used = others.reduce((total, other) => total + podRequest(other, name), 0);
    const capacity = name === 'cpu' ? quantityMilliValue(allocatable[name]) : quantityValue(allocatable[name]);
    if (used + requested > capacity) return out(name, requested, used, capacity);
  }
  return undefined;
}
