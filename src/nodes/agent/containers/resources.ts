import { quantityMilliValue, quantityValue } from '../../../base/machinery/values/quantity.js';
import type { Container } from '../../../objects/apis/core/v1/container.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import { podQosClass } from '../../../objects/apis/core/v1/pod-qos.js';
import type { CpuAssigner } from '../cpus/cpu-manager.js';
import type { LinuxResources } from '../cri/sandbox-messages.js';
import { podUid } from '../pods/pod-form.js';

const leastShares = 2;
const mostShares = 262_144;
/** The smallest quota that the kernel accepts, in microseconds. */
const leastQuota = 1000;
/** Pods of this priority and above are critical for the machine. */
const criticalPriority = 2_000_000_000;
const criticalScore = -997;
const bestEffortScore = 1000;

export interface ResourceSettings {
  /** Period of CPU quotas, in milliseconds. */
  readonly cfsQuotaPeriodMs: number;
  /** Whether limits of CPU are enforced. */
  readonly cfsQuota: boolean;
  /** Memory of the machine, in bytes. */
  readonly memoryCapacity: number;
  /** Which processors containers may use; undefined: all. */
  readonly cpus?: CpuAssigner | undefined;
}

/** CPU shares for an amount of CPU in thousandths. */
export function cpuShares(milli: number): number {
  return Math.min(mostShares, Math.max(leastShares, Math.floor((milli * 1024) / 1000)));
}

/** The CPU quota in microseconds for a limit in thousandths of a CPU; 0: no limit. */
export function cpuQuota(milli: number, periodMicros: number): number {
  return milli === 0 ? 0 : Math.max(leastQuota, Math.floor((milli * periodMicros) / 1000));
}

/** The OOM score adjustment of a container, which follows from the quality of service of its pod. */
export function oomScore(pod: Pod, container: Pick<Container, 'resources'>, memoryCapacity: number): number {
  if ((pod.spec.priority ?? 0) >= criticalPriority) return criticalScore;
  const qosClass = podQosClass(pod.spec);
  if (qosClass === 'Guaranteed') return criticalScore;
  if (qosClass === 'BestEffort') return bestEffortScore;
  const request = quantityValue(container.resources?.requests?.memory ?? container.resources?.limits?.memory ?? '0');
  const score = 1000 - Math.floor((1000 * request) / memoryCapacity);
  return Math.min(bestEffortScore - 1, Math.max(1000 + criticalScore, score));
}

/** Requests and limits of a container in the kernel's terms. */
export function linuxResourcesOf(pod: Pod, container: Container, settings: ResourceSettings): LinuxResources {
  const { requests } = container.resources ?? {};
  // A container without a limit gets the limit of its pod.
  const limits = { ...amountsOfPod(pod), ...container.resources?.limits };
  const cpuLimit = quantityMilliValue(limits?.cpu ?? '0');
  const cpuRequest = quantityMilliValue(requests?.cpu ?? limits?.cpu ?? '0');
  const memoryLimit = quantityValue(limits?.memory ?? '0');
  const period = settings.cfsQuotaPeriodMs * 1000;
  const own = settings.cpus?.cpusOf(podUid(pod), container.name);
  // Where nothing else runs, a quota would only make it wait.
  const quota = settings.cfsQuota && !own?.isExclusive ? cpuQuota(cpuLimit, period) : 0;
  return {
    ...(own === undefined ? {} : { cpusetCpus: own.cpus }),
    cpuShares: cpuShares(cpuRequest),
    ...(settings.cfsQuota ? { cpuPeriod: period, ...(quota === 0 ? {} : { cpuQuota: quota }) } : {}),
    ...(memoryLimit === 0 ? {} : { memoryLimitInBytes: memoryLimit }),
    oomScoreAdj: oomScore(pod, container, settings.memoryCapacity),
    hugepageLimits: Object.entries(limits ?? {}).flatMap(([name, amount]) =>
      name.startsWith('hugepages-')
        ? [{ pageSize: pageSizeOf(name.slice('hugepages-'.length)), limit: quantityValue(amount) }]
        : [],
    ),
  };
}

function amountsOfPod({ spec }: Pod): Record<string, string> {
  const { cpu, memory } = spec.resources?.limits ?? {};
  return { ...(cpu === undefined ? {} : { cpu }), ...(memory === undefined ? {} : { memory }) };
}

/** `2Mi` -> `2MB`, as the kernel's files are named. */
function pageSizeOf(quantity: string): string {
  const bytes = quantityValue(quantity);
  if (bytes >= 2 ** 30) return `${bytes / 2 ** 30}GB`;
  return bytes >= 2 ** 20 ? `${bytes / 2 ** 20}MB` : `${bytes / 2 ** 10}KB`;
}

/** The limits of all containers of a pod together; undefined fields are not limited. */
export interface PodAmounts {
  readonly cpuRequestMilli: number;
  readonly cpuLimitMilli: number | undefined;
  readonly memoryLimit: number | undefined;
}

/** Sums over the containers. A pod with a container without limit has no limit either, unless the pod has its own. */
export function podAmounts({ spec }: Pod): PodAmounts {
  const apps = spec.containers ?? [];
  const inits = spec.initContainers ?? [];
  const sidecars = inits.filter(({ restartPolicy }) => restartPolicy === 'Always');
  const tasks = inits.filter(({ restartPolicy }) => restartPolicy !== 'Always');
  const sum = (kind: 'limits' | 'requests', name: string, read: (text: string) => number): number | undefined => {
    const own = spec.resources?.[kind]?.[name];
    if (own !== undefined) return read(own);
    const of = ({ resources }: Container) =>
      resources?.[kind]?.[name] ?? (kind === 'requests' ? resources?.limits?.[name] : undefined);
    if (kind === 'limits' && [...apps, ...inits].some((each) => of(each) === undefined)) return undefined;
    const total = (all: readonly Container[]) => all.reduce((amount, each) => amount + read(of(each) ?? '0'), 0);
    const overhead = read(spec.overhead?.[name] ?? '0');
    const running = total([...apps, ...sidecars]);
    return Math.max(running, ...tasks.map((task) => read(of(task) ?? '0') + total(sidecars))) + overhead;
  };
  return {
    cpuRequestMilli: sum('requests', 'cpu', quantityMilliValue) ?? 0,
    cpuLimitMilli: sum('limits', 'cpu', quantityMilliValue),
    memoryLimit: sum('limits', 'memory', quantityValue),
  };
}

/** The limits of a pod's cgroup. A pod with exclusive processors has no CPU quota, which would hold its containers back. */
export function cgroupAmounts(pod: Pod, settings: ResourceSettings, amounts = podAmounts(pod)): PodAmounts {
  return settings.cpus?.hasExclusive(podUid(pod)) ? { ...amounts, cpuLimitMilli: undefined } : amounts;
}

/** Resources that cover both arguments. */
export function largerAmounts(a: PodAmounts, b: PodAmounts): PodAmounts {
  const larger = (one: number | undefined, other: number | undefined) =>
    one === undefined || other === undefined ? undefined : Math.max(one, other);
  return {
    cpuRequestMilli: Math.max(a.cpuRequestMilli, b.cpuRequestMilli),
    cpuLimitMilli: larger(a.cpuLimitMilli, b.cpuLimitMilli),
    memoryLimit: larger(a.memoryLimit, b.memoryLimit),
  };
}
