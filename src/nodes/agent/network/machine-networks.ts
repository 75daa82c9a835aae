import { existsSync, promises as fs } from 'node:fs';
import { join } from 'node:path';
import { networkConfiguration, networkName, type PodNetworkOptions } from './network-configuration.js';
import { runNetworkProgram as run } from './network-program.js';
import { interfaceName, pluginFolders, resultsFolder } from './plugin-folders.js';

/** Where runtimes mount network namespaces of pods. */
const namespaceFolder = '/run/netns';
const namespacePrefix = 'cni-';

/** The networks of pods on this machine, whichever runtime made them. */
export class MachineNetworks {
  constructor(private readonly options: Pick<PodNetworkOptions, 'bridge' | 'addressesFolder'>) {}

  /** The names of all network namespaces of pods. */
  async namespaces(): Promise<string[]> {
    const all = await fs.readdir(namespaceFolder).catch(() => []);
    return all.filter((name) => name.startsWith(namespacePrefix));
  }

  /** The addresses in a namespace; undefined when it is gone. @throws Error without the program `ip` */
  async addresses(name: string): Promise<readonly string[] | undefined> {
    const { code, output } = await run('ip', ['-n', name, '-j', 'address'], {}, '');
    return code === 0 ? addressesOf(output) : undefined;
  }

  /** Those of some namespaces that no process is in. */
  async unused(names: readonly string[]): Promise<string[]> {
    const used = new Set<string>();
    for (const id of await fs.readdir('/proc')) {
      if (/^\d+$/.test(id)) used.add(await fs.readlink(`/proc/${id}/ns/net`).catch(() => ''));
    }
    const unused: string[] = [];
    for (const name of names) {
      const found = await fs.stat(join(namespaceFolder, name)).catch(() => undefined);
      if (found !== undefined && !used.has(`net:[${found.ino}]`)) unused.push(name);
    }
    return unused;
  }

  /** Removes a namespace, and with it the interfaces in it and their other ends. @throws Error */
  async removeNamespace(name: string): Promise<void> {
    const { code, errors } = await run('ip', ['netns', 'delete', name], {}, '');
    if (code !== 0) throw new Error(`the network namespace ${name} can't be removed: ${errors.trim()}`);
  }

  /** Lets the plugins of the agent's own network forget a sandbox: its host ports and its addresses. @throws Error */
  async release(id: string, ranges: readonly string[]): Promise<void> {
    const folder = pluginFolders.find((each) => existsSync(join(each, 'host-local')));
    if (folder === undefined) throw new Error(`there are no network plugins in ${pluginFolders.join(' or ')}`);
    const { plugins, cniVersion, name } = networkConfiguration(ranges, this.options);
    const environment = {
      CNI_COMMAND: 'DEL',
      CNI_CONTAINERID: id,
      CNI_NETNS: '',
      CNI_IFNAME: interfaceName,
      CNI_PATH: folder,
    };
    for (const plugin of [...plugins].reverse()) {
      const input = JSON.stringify({ ...plugin, cniVersion, name });
      const { code, output, errors } = await run(join(folder, plugin.type), [], environment, input);
      if (code !== 0) throw new Error(`the plugin ${plugin.type} does not forget ${id}: ${(errors || output).trim()}`);
    }
    const results = [`${networkName}-${id}-${interfaceName}`, `cni-loopback-${id}-lo`];
    for (const result of results) await fs.rm(join(resultsFolder, result), { force: true });
  }
}

function addressesOf(output: string): string[] {
  const links = JSON.parse(output) as readonly { readonly addr_info?: readonly { readonly local?: string }[] }[];
  return links.flatMap(({ addr_info: infos = [] }) => infos.flatMap(({ local }) => local ?? []));
}
