import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import { type CpuSet, parseCpuSet } from './cpu-set.js';

/** The place of a processor: its physical core, its socket, and its memory node. */
export interface CpuPlace {
  readonly cpu: number;
  readonly core: number;
  readonly socket: number;
  readonly numaNode: number;
}

/** The online processors of a machine, in ascending order. */
export type CpuTopology = readonly CpuPlace[];

/** Reads the topology from the kernel. @param folder of devices, `/sys/devices/system` */
export async function readCpuTopology(folder = '/sys/devices/system'): Promise<CpuTopology> {
  const read = async (path: string) => (await fs.readFile(join(folder, path), 'utf8').catch(() => '')).trim();
  const online = parseCpuSet(await read('cpu/online'));
  const nodes = new Map<number, number>();
  for (const name of await fs.readdir(join(folder, 'node')).catch(() => [])) {
    const number = /^node(\d+)$/.exec(name)?.[1];
    if (number === undefined) continue;
    for (const cpu of parseCpuSet(await read(`node/${name}/cpulist`))) nodes.set(cpu, Number(number));
  }
  return Promise.all(
    online.map(async (cpu) => {
      const socket = Math.max(0, Number((await read(`cpu/cpu${cpu}/topology/physical_package_id`)) || 0));
      // Core numbers repeat in every socket, so a core is named after the first of its threads.
      const siblings = parseCpuSet(await read(`cpu/cpu${cpu}/topology/thread_siblings_list`));
      return { cpu, core: siblings[0] ?? cpu, socket, numaNode: nodes.get(cpu) ?? 0 };
    }),
  );
}

/** All processors of a topology. */
export function cpusOf(topology: CpuTopology): CpuSet {
  return topology.map(({ cpu }) => cpu);
}
