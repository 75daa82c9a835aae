import { promises as fs } from 'node:fs';
import type { AgentOptions } from '../agent-options.js';
import { readResolvConf } from '../containers/host-files.js';
import type { CpuAssigner } from '../cpus/cpu-manager.js';
import type { NodeSettings } from '../node-settings.js';
import type { NodeDescription } from './node-description.js';

/** The cgroup of all pods. */
export function podsCgroup({ cgroupRoot }: AgentOptions): string {
  return `${cgroupRoot.replace(/\/$/, '')}/kubepods`;
}

/** The properties of this node that its pods depend on. */
export function settingsOf(
  options: AgentOptions,
  description: NodeDescription,
  cpus: CpuAssigner | undefined,
): NodeSettings {
  return {
    nodeName: options.nodeName,
    clusterDns: options.clusterDns,
    clusterDomain: options.clusterDomain,
    cpus,
    cfsQuota: options.cfsQuota,
    cfsQuotaPeriodMs: options.cfsQuotaPeriodMs,
    memoryCapacity: description.machine.memoryBytes,
    podsCgroup: podsCgroup(options),
    hostIPs: () => description.addresses,
    resolvConf: async () =>
      options.resolvConf === ''
        ? { servers: [], searches: [], options: [] }
        : readResolvConf(await fs.readFile(options.resolvConf, 'utf8').catch(() => '')),
    allocatable: () => description.allocatable,
  };
}
