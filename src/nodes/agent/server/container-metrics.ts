import type { ContainerRuntime } from '../cri/container-runtime.js';
import type { ContainerStats } from '../cri/image-messages.js';
import type { MachineInfo } from '../node/machine.js';
import { containerNameOf, machineUse, type PodUse, podsUse } from './resource-metrics.js';

type Sample = readonly [labels: string, value: number | undefined, at?: number];

/** The text of `/metrics/cadvisor`: usage of containers, pods and the machine, under the names that dashboards know. */
export async function containerMetrics(runtime: ContainerRuntime, machine: MachineInfo): Promise<string> {
  const [node, pods, containers] = await Promise.all([machineUse(), podsUse(runtime), runtime.listContainers()]);
  const known = new Map(containers.map((each) => [each.id, each]));
  const lines: string[] = [];
  const metric = (name: string, type: 'counter' | 'gauge', help: string, samples: readonly Sample[]) => {
    lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
    for (const [labels, value, at] of samples) {
      if (value === undefined) continue;
      lines.push(`${name}${labels === '' ? '' : `{${labels}}`} ${value}${at ? ` ${Math.floor(at / 1e6)}` : ''}`);
    }
  };
  const labelsOf = ({ namespace, name }: PodUse, stats: ContainerStats, more = '') => {
    const id = stats.attributes?.id ?? '';
    const image = (known.get(id)?.image?.image ?? '').replace(/["\\\n]/g, '');
    const own = `container="${containerNameOf(stats)}"${more},id="${id}",image="${image}",name="${id}"`;
    return `${own},namespace="${namespace}",pod="${name}"`;
  };
  const each = (read: (stats: ContainerStats) => readonly [number | undefined, number?], more = ''): Sample[] =>
    pods.flatMap((pod) => pod.containers.map((stats): Sample => [labelsOf(pod, stats, more), ...read(stats)]));
  const root = 'container="",id="/",image="",name="",namespace="",pod=""';
  metric('container_cpu_usage_seconds_total', 'counter', 'Processor time in seconds.', [
    [root.replace('container=""', 'container="",cpu="total"'), node.cpuSeconds],
    ...each(({ cpu }) => [seconds(cpu?.usageCoreNanoSeconds?.value), cpu?.timestamp], ',cpu="total"'),
  ]);
  metric('container_memory_working_set_bytes', 'gauge', 'Memory that cannot be given back.', [
    [root, node.workingSetBytes],
    ...each(({ memory }) => [memory?.workingSetBytes?.value, memory?.timestamp]),
  ]);
  metric('container_memory_usage_bytes', 'gauge', 'Memory with all caches.', [
    ...each(({ memory }) => [memory?.usageBytes?.value, memory?.timestamp]),
  ]);
  metric('container_memory_rss', 'gauge', 'Memory that is not cache.', [
    ...each(({ memory }) => [memory?.rssBytes?.value, memory?.timestamp]),
  ]);
  metric('container_fs_usage_bytes', 'gauge', 'What the container wrote to its own file system.', [
    ...each(({ writableLayer }) => [writableLayer?.usedBytes?.value, writableLayer?.timestamp]),
  ]);
  metric('container_start_time_seconds', 'gauge', 'When the container was made.', [
    ...each(({ attributes }) => {
      const created = known.get(attributes?.id ?? '')?.createdAt;
      return [created === undefined ? undefined : Math.floor(created / 1e9)];
    }),
  ]);
  addNetwork(metric, pods);
  metric('machine_cpu_cores', 'gauge', 'Processors of the machine.', [['', machine.cpus]]);
  metric('machine_memory_bytes', 'gauge', 'Memory of the machine.', [['', machine.memoryBytes]]);
  return `${lines.join('\n')}\n`;
}

const directions = [
  ['container_network_receive_bytes_total', 'rxBytes', 'Bytes that the pod received.'],
  ['container_network_receive_errors_total', 'rxErrors', 'Errors while the pod received.'],
  ['container_network_transmit_bytes_total', 'txBytes', 'Bytes that the pod sent.'],
  ['container_network_transmit_errors_total', 'txErrors', 'Errors while the pod sent.'],
] as const;

function addNetwork(
  metric: (name: string, type: 'counter', help: string, samples: readonly Sample[]) => void,
  pods: readonly PodUse[],
): void {
  for (const [name, field, help] of directions) {
    const samples = pods.flatMap(({ namespace, name: pod, sandbox }) => {
      const { network } = sandbox?.linux ?? {};
      const all = [network?.defaultInterface, ...(network?.interfaces ?? [])];
      return all.flatMap((each): Sample[] =>
        each === undefined
          ? []
          : [
              [
                `interface="${each.name}",namespace="${namespace}",pod="${pod}"`,
                each[field]?.value,
                network?.timestamp,
              ],
            ],
      );
    });
    metric(name, 'counter', help, samples);
  }
}

function seconds(nanoseconds: number | undefined): number | undefined {
  return nanoseconds === undefined ? undefined : nanoseconds / 1e9;
}
