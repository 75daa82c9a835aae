import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pluginFolders } from '../../../nodes/agent/network/plugin-folders.js';

/** What a machine has that a node with real containers needs. */
export interface NodeMachine {
  readonly isRoot: boolean;
  readonly isLinux: boolean;
  /** Folders of programs, also those of administrators. */
  readonly programFolders: readonly string[];
  /** Folders of network plugins. */
  readonly pluginFolders: readonly string[];
  readonly exists: (path: string) => boolean;
}

const programs = ['containerd', 'runc', 'nft', 'ip'];
const plugins = ['bridge', 'host-local', 'loopback', 'portmap'];
const packages = 'containerd runc containernetworking-plugins nftables iproute2';

export function thisNodeMachine(): NodeMachine {
  return {
    isRoot: process.getuid?.() === 0,
    isLinux: process.platform === 'linux',
    programFolders: [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin'].filter((path) => path !== ''),
    pluginFolders,
    exists: existsSync,
  };
}

/** The folder that has all network plugins of a node; undefined if there is none. */
export function pluginFolder({ pluginFolders, exists }: NodeMachine): string | undefined {
  return pluginFolders.find((folder) => plugins.every((name) => exists(join(folder, name))));
}

/** Why the machine can't have real containers, and what to do; undefined if it can. */
export function nodeProblem(machine: NodeMachine): string | undefined {
  if (!machine.isLinux) return 'a node with real containers needs Linux';
  const { isRoot, programFolders, exists } = machine;
  const missing = programs.filter((name) => !programFolders.some((folder) => exists(join(folder, name))));
  const all = [
    ...(isRoot ? [] : ['root']),
    ...missing,
    ...(pluginFolder(machine) === undefined ? [`the network plugins ${plugins.join(', ')}`] : []),
  ];
  if (all.length === 0) return undefined;
  const isInstalled = missing.length === 0 && pluginFolder(machine) !== undefined;
  const advice = isInstalled ? 'run it as root' : `on Debian or Ubuntu, as root: apt-get install -y ${packages}`;
  return `a node with real containers needs ${all.join('; ')} (${advice})`;
}
