import { Check } from './check.js';
import { Flag } from './flag.js';

/** Reads `127.0.0.1:10257`, `[::1]:10257` or `:10257` (all addresses); undefined for any other string. */
export function parseBindAddress(text: string): { readonly host: string; readonly port: number } | undefined {
  const match = /^(?:\[([0-9A-Fa-f:.]+)\]|([\w.-]*)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  if (match === null || port > 65_535) return undefined;
  return { host: match[1] ?? (match[2] || '::'), port };
}

/** The additional options of a process that only runs control loops. */
export class ControllersServingOptions {
  @Flag({
    name: 'controllers-metrics-bind-address',
    type: 'string',
    unit: 'address:port',
    usage:
      'Where to serve /metrics, /healthz and /readyz, in plain HTTP and to everybody: 127.0.0.1:10257, or :10257 for all ' +
      'addresses. Unset: nowhere.',
  })
  @Check<string>('address', (text) =>
    parseBindAddress(text) === undefined ? 'must be an address and a port such as 127.0.0.1:10257' : undefined,
  )
  readonly controllersMetricsBindAddress: string | undefined = undefined;

  @Flag({
    name: 'enable-garbage-collector',
    type: 'bool',
    usage: 'Run the control loop garbagecollector. Give servers the same value.',
  })
  readonly garbageCollector: boolean = true;
}
