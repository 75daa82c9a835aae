import { formatTime } from '../../../base/machinery/clock.js';
import type { ContainerRuntime } from '../cri/container-runtime.js';
import type { ContainerStats } from '../cri/image-messages.js';
import type { VolumeUse } from '../csi/volume-statistics.js';
import { fileSystem } from '../node/machine.js';
import { containerNameOf, machineUse, type PodUse, podsUse } from './resource-metrics.js';

export interface SummaryInput {
  readonly runtime: ContainerRuntime;
  readonly nodeName: string;
  readonly rootFolder: string;
  readonly now: number;
  /** Start times of the machine and of each pod, in milliseconds since the epoch. */
  readonly bootTime: number;
  readonly startTimeOf: (uid: string) => string | undefined;
  readonly volumeUse: (uid: string) => Promise<readonly VolumeUse[]>;
}

/** The response of `/stats/summary`: the usage of the node, its pods and their containers. */
export async function statsSummary(input: SummaryInput) {
  const { runtime, nodeName, rootFolder, now, bootTime, startTimeOf, volumeUse } = input;
  const node = await machineUse();
  const time = formatTime(now);
  const { capacity, available, inodes, inodesFree } = await fileSystem(rootFolder);
  const fs = {
    time,
    availableBytes: available,
    capacityBytes: capacity,
    usedBytes: capacity - available,
    inodesFree,
    inodes,
    inodesUsed: inodes - inodesFree,
  };
  const pods = await podsUse(runtime);
  return {
    node: {
      nodeName,
      startTime: formatTime(bootTime),
      cpu: { time, usageCoreNanoSeconds: Math.round(node.cpuSeconds * 1e9) },
      memory: { time, availableBytes: node.availableBytes, workingSetBytes: node.workingSetBytes },
      fs,
      runtime: { imageFs: fs },
    },
    pods: await Promise.all(pods.map(async (pod) => podSummary(pod, startTimeOf(pod.uid), await volumeUse(pod.uid)))),
  };
}

function podSummary(
  { namespace, name, uid, sandbox, containers }: PodUse,
  startTime: string | undefined,
  volumes: readonly VolumeUse[],
) {
  const { cpu, memory, network, process } = sandbox?.linux ?? {};
  const main = network?.defaultInterface;
  return {
    podRef: { name, namespace, uid },
    ...(startTime === undefined ? {} : { startTime }),
    containers: containers.map(containerSummary),
    ...(cpu === undefined ? {} : { cpu: cpuOf(cpu) }),
    ...(memory === undefined ? {} : { memory: memoryOf(memory) }),
    ...(network === undefined || main === undefined
      ? {}
      : {
          network: {
            time: formatTime(network.timestamp / 1e6),
            name: main.name,
            rxBytes: main.rxBytes?.value,
            rxErrors: main.rxErrors?.value,
            txBytes: main.txBytes?.value,
            txErrors: main.txErrors?.value,
          },
        }),
    ...(volumes.length === 0 ? {} : { volume: volumes }),
    ...(process?.processCount === undefined ? {} : { process_stats: { process_count: process.processCount.value } }),
  };
}

function containerSummary(stats: ContainerStats) {
  const { cpu, memory, writableLayer } = stats;
  return {
    name: containerNameOf(stats),
    ...(cpu === undefined ? {} : { cpu: cpuOf(cpu) }),
    ...(memory === undefined ? {} : { memory: memoryOf(memory) }),
    ...(writableLayer === undefined
      ? {}
      : {
          rootfs: {
            time: formatTime(writableLayer.timestamp / 1e6),
            usedBytes: writableLayer.usedBytes?.value,
            inodesUsed: writableLayer.inodesUsed?.value,
          },
        }),
  };
}

function cpuOf({ timestamp, usageCoreNanoSeconds, usageNanoCores }: NonNullable<ContainerStats['cpu']>) {
  return {
    time: formatTime(timestamp / 1e6),
    usageNanoCores: usageNanoCores?.value,
    usageCoreNanoSeconds: usageCoreNanoSeconds?.value,
  };
}

function memoryOf(memory: NonNullable<ContainerStats['memory']>) {
  return {
    time: formatTime(memory.timestamp / 1e6),
    availableBytes: memory.availableBytes?.value,
    usageBytes: memory.usageBytes?.value,
    workingSetBytes: memory.workingSetBytes?.value,
    rssBytes: memory.rssBytes?.value,
    pageFaults: memory.pageFaults?.value,
    majorPageFaults: memory.majorPageFaults?.value,
  };
}
