import type { ApiObject } from '../../../base/machinery/api-object.js';
import { formatApiVersion } from '../../../base/machinery/group-version.js';
import { badRequestError } from '../../../base/machinery/status-error.js';
import type { ConnectSubresource } from '../../../objects/registry/subresource-definition.js';
import { isTrue } from '../request-info/request-info.js';

/** The options of a connection to a pod, as an object of their kind (`PodExecOptions` and similar kinds). */
export interface StreamOptions {
  readonly stdin?: boolean;
  readonly stdout?: boolean;
  readonly stderr?: boolean;
  readonly tty?: boolean;
  readonly container?: string;
  readonly command?: readonly string[] | null;
  readonly ports?: readonly number[] | null;
}

const switches = ['stdin', 'stdout', 'stderr', 'tty'] as const;
/** Maximum number of arguments; the operating system of a node accepts fewer. */
const maxCommands = 4096;
const maxPorts = 1024;

/**
 * The options of a request, from its query (specification 4.1). Throws a 400 for an invalid value.
 *
 * @param path the path after the name of the subresource, decoded; only for proxies
 */
export function connectOptions(subresource: ConnectSubresource, query: URLSearchParams, path: string): ApiObject {
  const { kind } = subresource.body;
  const options: Record<string, unknown> = { kind: kind.kind, apiVersion: formatApiVersion(kind) };
  const container = query.get('container') ?? '';
  switch (subresource.target) {
    case 'exec':
    case 'attach':
      for (const name of switches) if (isTrue(query.get(name))) options[name] = true;
      if (container !== '') options.container = container;
      if (subresource.target === 'exec') options.command = limited('command', query.getAll('command'), maxCommands);
      break;
    case 'portForward': {
      const ports = limited('ports', query.getAll('ports'), maxPorts).flatMap((text) => text.split(','));
      if (ports.length > 0) options.ports = limited('ports', ports, maxPorts).map(portOf);
      break;
    }
    case 'proxy':
      if (path !== '') options.path = path;
      break;
  }
  return options as unknown as ApiObject;
}

/** The query for the node agent. */
export function agentQuery(options: StreamOptions): URLSearchParams {
  const query = new URLSearchParams();
  for (const argument of options.command ?? []) query.append('command', argument);
  if (options.stderr === true) query.set('error', '1');
  if (options.stdin === true) query.set('input', '1');
  if (options.stdout === true) query.set('output', '1');
  if (options.tty === true) query.set('tty', '1');
  const ports = options.ports ?? [];
  if (ports.length > 0) query.set('port', ports.join(','));
  return query;
}

function limited(name: string, values: readonly string[], most: number): readonly string[] {
  if (values.length > most) throw badRequestError(`the query has more than ${most} values of ${name}`);
  return values;
}

function portOf(text: string): number {
  const fault = /^\d+$/.test(text) ? Number(text) > 65535 && 'value out of range' : 'invalid syntax';
  if (!fault) return Number(text);
  const shown = JSON.stringify(text.slice(0, 64));
  throw badRequestError(`cannot convert to []int32: strconv.ParseUint: parsing ${shown}: ${fault}`);
}
