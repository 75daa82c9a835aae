import { isIP } from 'node:net';
import { type ServiceResolution, serviceResolutions } from '../machinery/service-resolution.js';
import { Check } from './check.js';
import { Flag } from './flag.js';
import { parseCidr } from './network.js';

/** An address of a service. */
export interface ServiceAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * Addresses that no legitimate webhook has: link-local and other addresses at which clouds serve the credentials of the
 * machine, and unspecified, multicast and reserved addresses.
 */
export const defaultDeniedCidrs: readonly string[] = Object.freeze([
  '169.254.0.0/16',
  'fe80::/10',
  '100.100.100.200/32',
  '168.63.129.16/32',
  'fd00:ec2::254/128',
  '0.0.0.0/8',
  '::/128',
  '224.0.0.0/4',
  'ff00::/8',
  '240.0.0.0/4',
]);

function resolverProblem(value: string): string | undefined {
  return serviceResolutions.some((known) => known === value)
    ? undefined
    : `must be one of ${serviceResolutions.join(', ')}`;
}

export function cidrsProblem(values: readonly string[]): string | undefined {
  const wrong = values.filter((value) => parseCidr(value) === undefined);
  return wrong.length === 0 ? undefined : `has ${wrong.join(', ')}, which is not a range such as 10.0.0.0/8`;
}

function addressesProblem(values: readonly string[]): string | undefined {
  const wrong = values.filter((value) => parseServiceAddress(value) === undefined);
  return wrong.length === 0
    ? undefined
    : `has ${wrong.join(', ')}, which is not of the form namespace/name=host:port or namespace/name:port=host:port`;
}

const entryForm = /^([a-z0-9-]+\/[a-z0-9-]+(?::\d{1,5})?)=(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+):(\d{1,5})$/;

function parseServiceAddress(text: string): readonly [string, ServiceAddress] | undefined {
  const [, service = '', shown = '', portText = ''] = entryForm.exec(text) ?? [];
  const port = Number(portText);
  const host = shown.replace(/^\[|\]$/g, '');
  if (service === '' || port < 1 || port > 65535 || (shown.startsWith('[') && isIP(host) !== 6)) return undefined;
  return [service, { host, port }];
}

/** The addresses by `namespace/name` or `namespace/name:port`. Entries of another form are left out. */
export function parseServiceAddresses(entries: readonly string[]): ReadonlyMap<string, ServiceAddress> {
  return new Map(
    entries.flatMap((entry) => {
      const parsed = parseServiceAddress(entry);
      return parsed === undefined ? [] : [parsed];
    }),
  );
}

/** How the server connects to admission webhooks. */
export class AdmissionWebhookOptions {
  @Flag({
    name: 'admission-webhook-service-resolver',
    type: 'string',
    values: serviceResolutions,
    unit: 'way',
    usage:
      'How services of admission webhooks and extension servers are reached: at one of its ready endpoints (endpoints), at its cluster ' +
      'address (cluster-ip), or only as --admission-webhook-service-addresses says (none).',
  })
  @Check('resolver', resolverProblem)
  readonly webhookServiceResolver: ServiceResolution = 'endpoints';

  @Flag({
    name: 'admission-webhook-service-addresses',
    type: 'list',
    unit: 'namespace/name=host:port',
    usage:
      'Where services of admission webhooks and extension servers are, before any other way to find them. ' +
      'With namespace/name:port=host:port for one port of a service.',
  })
  @Check('addresses', addressesProblem)
  readonly webhookServiceAddresses: readonly string[] = [];

  @Flag({
    name: 'admission-webhook-denied-cidrs',
    type: 'list',
    unit: 'ranges',
    usage:
      'Ranges of addresses that admission webhooks and extension servers must not have, whatever their ' +
      'configuration contains. A list replaces the default; an empty one denies nothing.',
  })
  @Check('cidrs', cidrsProblem)
  readonly webhookDeniedCidrs: readonly string[] = defaultDeniedCidrs;
}
