import { promises as fs } from 'node:fs';
import type { ContainerRuntime } from '../cri/container-runtime.js';
import type { ContainerStats, SandboxStats } from '../cri/image-messages.js';
import { runtimeLabels } from '../cri/labels.js';

/** The usage of the whole machine. */
export interface MachineUse {
  /** Since the start of the machine. */
  readonly cpuSeconds: number;
  readonly workingSetBytes: number;
  readonly availableBytes: number;
}

/** Clock ticks per second in the kernel's files. */
const ticksPerSecond = 100;

export async function machineUse(): Promise<MachineUse> {
  const stat = await fs.readFile('/proc/stat', 'utf8');
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0, steal = 0] = (stat.split('\n')[0] ?? '')
    .trim()
    .split(/\s+/)
    .slice(1)
    .map(Number);
  const info = await fs.readFile('/proc/meminfo', 'utf8');
  const of = (name: string) => 1024 * Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(info)?.[1] ?? 0);
  const availableBytes = of('MemAvailable');
  return {
    cpuSeconds: (user + nice + system + irq + softirq + steal) / ticksPerSecond,
    workingSetBytes: of('MemTotal') - availableBytes,
    availableBytes,
  };
}

/** The usage of pods' containers, as far as the runtime knows it. */
export interface PodUse {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly sandbox: SandboxStats | undefined;
  readonly containers: readonly ContainerStats[];
}

export async function podsUse(runtime: ContainerRuntime): Promise<PodUse[]> {
  const [sandboxes, containers] = await Promise.all([
    // Some runtimes fail this call while a sandbox ends; then the statistics of containers must be enough.
    runtime.sandboxStats().catch(() => undefined),
    runtime.containerStats(),
  ]);
  const pods = new Map<string, { -readonly [K in keyof PodUse]: PodUse[K] }>();
  const of = (labels: Readonly<Record<string, string>>) => {
    const uid = labels[runtimeLabels.podUid];
    if (uid === undefined) return undefined;
    let pod = pods.get(uid);
    if (pod === undefined) {
      const namespace = labels[runtimeLabels.podNamespace] ?? '';
      pod = { uid, namespace, name: labels[runtimeLabels.podName] ?? '', sandbox: undefined, containers: [] };
      pods.set(uid, pod);
    }
    return pod;
  };
  for (const sandbox of sandboxes ?? []) {
    const pod = of(sandbox.attributes?.labels ?? {});
    if (pod !== undefined) pod.sandbox = sandbox;
  }
  for (const each of containers) {
    const pod = of(each.attributes?.labels ?? {});
    if (pod !== undefined) pod.containers = [...pod.containers, each];
  }
  return [...pods.values()];
}

/** Memory that a pod can't free, in bytes; undefined if it is unknown. */
export function podMemory({ sandbox, containers }: PodUse): number | undefined {
  return (
    sandbox?.linux?.memory?.workingSetBytes?.value ?? sum(containers, ({ memory }) => memory?.workingSetBytes?.value)
  );
}

/** CPU time that a pod has used, in nanoseconds; undefined if it is unknown. */
export function podProcessorTime({ sandbox, containers }: PodUse): number | undefined {
  return (
    sandbox?.linux?.cpu?.usageCoreNanoSeconds?.value ?? sum(containers, ({ cpu }) => cpu?.usageCoreNanoSeconds?.value)
  );
}

function sum(containers: readonly ContainerStats[], read: (stats: ContainerStats) => number | undefined) {
  const values = containers.map(read).filter((value) => value !== undefined);
  return values.length === 0 ? undefined : values.reduce((total, value) => total + value, 0);
}

export function containerNameOf({ attributes }: ContainerStats): string {
  return attributes?.labels[runtimeLabels.containerName] ?? attributes?.metadata?.name ?? '';
}

/** Labels, value, and the time of the measurement, in nanoseconds since the epoch. */
type Sample = readonly [labels: string, value: number, at?: number | undefined];

/** The text of `/metrics/resource`, which schedulers and autoscalers read. */
export async function resourceMetrics(runtime: ContainerRuntime): Promise<string> {
  const node = await machineUse();
  const [pods, containers] = await Promise.all([podsUse(runtime), runtime.listContainers()]);
  const made = new Map(containers.map(({ id, createdAt }) => [id, createdAt]));
  const lines: string[] = [];
  const metric = (name: string, type: string, help: string, values: readonly Sample[]) => {
    lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
    for (const [labels, value, at] of values) {
      const time = at === undefined || at === 0 ? '' : ` ${Math.floor(at / 1e6)}`;
      lines.push(`${name}${labels === '' ? '' : `{${labels}}`} ${value}${time}`);
    }
  };
  const podLabels = ({ namespace, name }: PodUse) => `namespace="${namespace}",pod="${name}"`;
  const ofContainers = (read: (stats: ContainerStats) => readonly [number | undefined, number?]) =>
    pods.flatMap((pod) =>
      pod.containers.flatMap((stats): Sample[] => {
        const [value, at] = read(stats);
        return value === undefined ? [] : [[`container="${containerNameOf(stats)}",${podLabels(pod)}`, value, at]];
      }),
    );
  const ofPods = (read: (pod: PodUse) => number | undefined) =>
    pods.flatMap((pod): [string, number][] => {
      const value = read(pod);
      return value === undefined ? [] : [[podLabels(pod), value]];
    });
  const seconds = (nanos: number | undefined) => (nanos === undefined ? undefined : nanos / 1e9);
  metric(
    'container_cpu_usage_seconds_total',
    'counter',
    'Processor time of the container in seconds.',
    ofContainers(({ cpu }) => [seconds(cpu?.usageCoreNanoSeconds?.value), cpu?.timestamp]),
  );
  metric(
    'container_memory_working_set_bytes',
    'gauge',
    'Memory of the container that cannot be given back.',
    ofContainers(({ memory }) => [memory?.workingSetBytes?.value, memory?.timestamp]),
  );
  metric(
    'container_start_time_seconds',
    'gauge',
    'When the container was made, in seconds since the epoch.',
    ofContainers(({ attributes }) => {
      const created = made.get(attributes?.id ?? '');
      return [created === undefined ? undefined : created / 1e9];
    }),
  );
  metric('node_cpu_usage_seconds_total', 'counter', 'Processor time of the node in seconds.', [['', node.cpuSeconds]]);
  metric('node_memory_working_set_bytes', 'gauge', 'Memory of the node that cannot be given back.', [
    ['', node.workingSetBytes],
  ]);
  metric(
    'pod_cpu_usage_seconds_total',
    'counter',
    'Processor time of the pod in seconds.',
    ofPods((pod) => seconds(podProcessorTime(pod))),
  );
  metric('pod_memory_working_set_bytes', 'gauge', 'Memory of the pod that cannot be given back.', ofPods(podMemory));
  metric('resource_scrape_error', 'gauge', '1 if the numbers could not be read, 0 otherwise.', [['', 0]]);
  return `${lines.join('\n')}\n`;
}
