import { homedir } from 'node:os';
import { join } from 'node:path';
import { flagsOf, showFlagValue } from '../../../../base/config/flag.js';
import { StartupError } from '../../../../base/machinery/startup-error.js';
import { type VendorNames, vendorNames } from '../../../../base/machinery/vendor.js';
import { advertisedAddress } from '../../../../server/advertise/advertised-address.js';
import { localUrl } from '../../kubeconfig.js';
import type { CommandFlags } from '../../pki/control-plane-flags.js';
import { isLoopback } from '../../published-servers.js';
import { defaultConfigFolder } from '../config-folder.js';
import { withoutLinks } from '../without-links.js';
import { type InitCommandOptions, initGroups } from './init-groups.js';

/** A control plane that is to be set up. */
export interface InitSettings {
  readonly options: InitCommandOptions;
  readonly names: VendorNames;
  readonly configDir: string;
  readonly dataDir: string;
  /** `host:port` at which nodes reach the API. */
  readonly endpoint: string;
  /** The same as a URL. */
  readonly server: string;
  /** The address of the API on this machine. */
  readonly localServer: string;
  /** Names and addresses of the serving certificate. */
  readonly certificateNames: readonly string[];
  /** Flags of the user that servers and loops get as well. */
  readonly sharedFlags: CommandFlags;
  /** Those of them that further control planes learn from the cluster. */
  readonly clusterFlags: CommandFlags;
}

/** @param given names of the flags that the user set */
export async function initSettings(options: InitCommandOptions, given: ReadonlySet<string>): Promise<InitSettings> {
  const { init, cluster } = options;
  const { bindAddress, apiserverBindPort: port, apiserverAdvertiseAddress: advertiseAddress } = init;
  const configDir = await withoutLinks(init.configDir ?? defaultConfigFolder());
  const isRoot = process.getuid?.() === 0;
  const dataDir = await withoutLinks(init.dataDir ?? (isRoot ? '/var/lib/plinth' : join(homedir(), '.plinth', 'data')));
  const local = isLoopback(bindAddress) ? bindAddress : undefined;
  const address = advertiseAddress ?? local ?? (await advertisedAddress({ bindAddress }));
  const chosen = init.controlPlaneEndpoint;
  if (address === undefined && chosen === undefined) {
    throw new StartupError('this machine has no address that nodes could reach: give --apiserver-advertise-address');
  }
  const url = new URL(chosen === undefined ? localUrl(address as string, port) : `https://${chosen}`);
  const endpoint = `${url.hostname}:${url.port === '' ? (chosen?.endsWith(':443') === true ? 443 : port) : url.port}`;
  return {
    options,
    names: vendorNames(cluster.vendor, cluster.compat),
    configDir,
    dataDir,
    endpoint,
    server: `https://${endpoint}`,
    localServer: localUrl(bindAddress, port),
    certificateNames: [
      url.hostname.replace(/^\[(.*)\]$/, '$1'),
      ...(address === undefined ? [] : [address]),
      ...init.apiserverCertExtraSans,
    ],
    sharedFlags: flagsOfGroups(['storage', 'cluster', 'logging'], options, given),
    clusterFlags: flagsOfGroups(['cluster'], options, given),
  };
}

/** What the processes of a cluster must agree on. Secrets are not among them: those are variables in a file. */
function flagsOfGroups(
  groups: readonly ('storage' | 'cluster' | 'logging')[],
  options: InitCommandOptions,
  given: ReadonlySet<string>,
): CommandFlags {
  return groups.flatMap((group) =>
    flagsOf(initGroups[group])
      .filter(({ name, secret }) => secret !== true && (given.has(name) || name === 'compat'))
      .map((flag) => {
        const value = (options[group] as unknown as Readonly<Record<string, unknown>>)[flag.property];
        return [flag.name, showFlagValue(flag, value)] as const;
      }),
  );
}
