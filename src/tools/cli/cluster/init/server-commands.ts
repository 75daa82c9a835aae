import { join } from 'node:path';
import { type CommandFlags, controlPlaneFlags } from '../../pki/control-plane-flags.js';
import type { Pki } from '../../pki/pki.js';
import type { InitSettings } from './init-settings.js';

/** The file of variables with the URL of the database, which is a secret. */
export function databaseFile(configDir: string): string {
  return join(configDir, 'database.env');
}

/** The folder of certificates. */
export function certificateFolder(configDir: string): string {
  return join(configDir, 'pki');
}

/** The servers of the control plane: subcommands and their flags, none of which is a secret. */
export interface ServerCommands {
  readonly serve: readonly string[];
  readonly controllers: readonly string[];
}

export function serverCommands({ options, sharedFlags }: InitSettings, pki: Pki, tokenKey: string): ServerCommands {
  const { bindAddress, apiserverBindPort, apiserverAdvertiseAddress: advertise, podNetworkCidr } = options.init;
  const flags = controlPlaneFlags(pki, tokenKey);
  const ranges: CommandFlags =
    podNetworkCidr === undefined
      ? []
      : [
          ['allocate-node-cidrs', 'true'],
          ['cluster-cidr', podNetworkCidr],
        ];
  return {
    serve: commandOf('serve', [
      ['bind-address', bindAddress],
      ['secure-port', String(apiserverBindPort)],
      ...(advertise === undefined ? [] : ([['advertise-address', advertise]] as const)),
      ['enable-bootstrap-token-auth', 'true'],
      ...flags.serve,
      // The names of nodes are known to no name service of a new cluster.
      ['kubelet-preferred-address-types', 'InternalIP,ExternalIP,Hostname'],
      ...sharedFlags,
    ]),
    controllers: commandOf('controllers', [
      ['controllers', '*,bootstrapsigner,tokencleaner'],
      ...flags.controllers,
      ...ranges,
      ...sharedFlags,
    ]),
  };
}

function commandOf(command: string, flags: CommandFlags): string[] {
  return [command, ...flags.map(([name, value]) => `--${name}=${value}`)];
}
