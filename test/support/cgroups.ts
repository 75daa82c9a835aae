import { promises as fs } from 'node:fs';
import { join } from 'node:path';
import { removeCgroup } from '../../src/nodes/agent/containers/remove-cgroup.js';

const mountPoint = '/sys/fs/cgroup';

/** Every folder that may be the root of a hierarchy of cgroups. */
export async function cgroupHierarchies(): Promise<string[]> {
  return [mountPoint, ...(await fs.readdir(mountPoint)).map((name) => join(mountPoint, name))];
}

/** Removes a cgroup with all that is below it from every hierarchy, and kills the processes in it. */
export async function removeCgroupEverywhere(name: string): Promise<void> {
  for (const root of await cgroupHierarchies()) await removeCgroup(join(root, name));
}
