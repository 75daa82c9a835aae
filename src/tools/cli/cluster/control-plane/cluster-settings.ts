import { ClusterOptions } from '../../../../base/config/cluster.options.js';
import { OptionsError } from '../../../../base/config/options-error.js';
import { parseOptions } from '../../../../base/config/parse-options.js';
import { StartupError } from '../../../../base/machinery/startup-error.js';
import { type VendorNames, vendorNames } from '../../../../base/machinery/vendor.js';
import { readYaml } from '../../../../base/machinery/yaml/read-yaml.js';
import { isEntry } from '../../../../base/outgoing/client-config-document.js';

/** What a further control plane must have in common with the first one. */
export interface ClusterSettings {
  readonly cluster: Readonly<ClusterOptions>;
  /** Names of the flags in `cluster` that differ from their defaults. */
  readonly given: readonly string[];
  readonly endpoint: string | undefined;
  readonly podRange: string | undefined;
  readonly certificateNames: readonly string[];
}

/** Key of the flags that only Plinth knows, in the map `kubeadm-config`, beside that of kubeadm. */
export const plinthFlagsKey = 'PlinthFlags';

/** Flags as the map has them: one in a line. */
export function controlPlaneFlagLines(flags: readonly (readonly [name: string, value: string])[]): string {
  return flags.map(([name, value]) => `--${name}=${value}\n`).join('');
}

/**
 * Reads the map `kubeadm-config`.
 *
 * @throws StartupError for one that has another form, or flags that this release does not know
 */
export function readClusterSettings(data: Readonly<Record<string, string>>, names: VendorNames): ClusterSettings {
  const document: unknown = readYaml(data.ClusterConfiguration ?? '');
  if (!isEntry(document)) throw new StartupError('the map kubeadm-config has no ClusterConfiguration');
  const networking = isEntry(document.networking) ? document.networking : {};
  const server = isEntry(document.apiServer) ? document.apiServer : {};
  const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);
  const serviceRange = text(networking.serviceSubnet);
  const isUpstream = names.publicNamespace === vendorNames(names.suffix, 'kubernetes').publicNamespace;
  const lines = (data[plinthFlagsKey] ?? '').split('\n').filter((line) => line !== '');
  const argv = [
    `--vendor=${names.suffix}`,
    `--compat=${isUpstream ? 'kubernetes' : ''}`,
    ...(serviceRange === undefined ? [] : [`--service-cluster-ip-range=${serviceRange}`]),
    ...lines,
  ];
  try {
    const { cluster } = parseOptions({ groups: { cluster: ClusterOptions }, argv, environment: {} });
    const given = argv.map((line) => line.slice(2, line.indexOf('=')));
    return {
      cluster,
      given: [...new Set(given)],
      endpoint: text(document.controlPlaneEndpoint),
      podRange: text(networking.podSubnet),
      certificateNames: (Array.isArray(server.certSANs) ? server.certSANs : []).filter(
        (name) => typeof name === 'string',
      ),
    };
  } catch (error) {
    if (!(error instanceof OptionsError)) throw error;
    throw new StartupError(`the cluster has settings that this release does not know: ${error.message}`);
  }
}
