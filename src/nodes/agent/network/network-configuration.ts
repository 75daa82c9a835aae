import { parseCidr } from '../../../base/config/network.js';

export interface PodNetworkOptions {
  /** Folder in which the runtime looks for network configurations; empty: the agent writes none. */
  readonly configurationFolder: string;
  /** Name of the bridge that joins the pods of the node. */
  readonly bridge: string;
  /** Where the plugin records addresses in use; undefined: in its default folder. */
  readonly addressesFolder: string | undefined;
  /** Whether pods of the agent's own network may send under their own addresses only. */
  readonly checksSenders: boolean;
}

/** The name of the agent's own network. */
export const networkName = 'plinth';

/** A list of network plugins, which run one after the other. */
export interface NetworkConfiguration {
  readonly cniVersion: string;
  readonly name: string;
  readonly plugins: readonly { readonly type: string; readonly [setting: string]: unknown }[];
}

/**
 * The configuration of a network for the pods of one node: a bridge, addresses from the ranges of the node, host ports.
 * Packets keep the addresses of their pods; pods reach themselves through services, too.
 *
 * @param ranges at least one, at most one of each family
 */
export function networkConfiguration(
  ranges: readonly string[],
  { bridge, addressesFolder }: Pick<PodNetworkOptions, 'bridge' | 'addressesFolder'>,
): NetworkConfiguration {
  const isSix = (range: string) => parseCidr(range)?.family === 6;
  const ipam = {
    type: 'host-local',
    ranges: ranges.map((subnet) => [{ subnet }]),
    routes: ranges.map((range) => ({ dst: isSix(range) ? '::/0' : '0.0.0.0/0' })),
    ...(addressesFolder === undefined ? {} : { dataDir: addressesFolder }),
  };
  return {
    cniVersion: '0.4.0',
    name: networkName,
    plugins: [
      { type: 'bridge', bridge, isGateway: true, hairpinMode: true, ipMasq: false, ipam },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  };
}
