import type { FlagDeclaration } from './flag.js';

// Flags that have the same meaning in several options classes: one declaration each.

export const dryRunFlag: FlagDeclaration = {
  name: 'dry-run',
  type: 'bool',
  usage: 'Print what would be done, and change nothing.',
};

export const hostnameOverrideFlag: FlagDeclaration = {
  name: 'hostname-override',
  type: 'string',
  unit: 'name',
  usage: 'Name of the node. Default: the host name of the machine, in small letters.',
};

export const metricsBindAddressFlag: FlagDeclaration = {
  name: 'metrics-bind-address',
  type: 'string',
  unit: 'address:port',
  usage: 'Address and port at which /metrics is served, without credentials. Empty: nowhere.',
};

export const nodeLeaseDurationFlag: FlagDeclaration = {
  name: 'node-lease-duration',
  type: 'duration',
  usage: 'How long a lease of a node holds; it is renewed four times as often.',
};

export const postgresPortFlag: FlagDeclaration = {
  name: 'postgres-port',
  type: 'int',
  unit: 'port',
  usage:
    'Port of 127.0.0.1 on which roles of your own log in to the embedded database; 0: none. ' +
    'Unset: any, the same at every start; postgres.json in --data-dir says which.',
};

/** The flag for the format of what a command prints, of which the first one is the default. */
export function outputFlag<Format extends string>(formats: readonly [Format, ...Format[]]): FlagDeclaration {
  return {
    name: 'output',
    short: 'o',
    type: 'string',
    values: formats,
    unit: 'format',
    usage: `Format of the output: ${formats.join(' or ')}.`,
  };
}
