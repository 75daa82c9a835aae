import {
  type Quantity,
  quantityMilliValue,
  quantityOf,
  quantityValue,
} from '../../../base/machinery/values/quantity.js';
import type { Container } from '../../../objects/apis/core/v1/container.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';

/** Addresses of a pod and its node, which the pod's status may not contain yet. */
export interface AddressFields {
  readonly podIPs: readonly string[];
  readonly hostIPs: readonly string[];
}

/** The value of a pod field for the downward API. @throws Error for a field that is not offered to containers */
export function podFieldValue(pod: Pod, path: string, { podIPs, hostIPs }: AddressFields): string {
  const { metadata, spec } = pod;
  switch (path) {
    case 'metadata.name':
      return metadata.name ?? '';
    case 'metadata.namespace':
      return metadata.namespace ?? '';
    case 'metadata.uid':
      return metadata.uid ?? '';
    case 'metadata.labels':
      return formatMap(metadata.labels ?? {});
    case 'metadata.annotations':
      return formatMap(metadata.annotations ?? {});
    case 'spec.nodeName':
      return spec.nodeName ?? '';
    case 'spec.serviceAccountName':
      return spec.serviceAccountName ?? '';
    case 'status.hostIP':
      return hostIPs[0] ?? '';
    case 'status.hostIPs':
      return hostIPs.join(',');
    case 'status.podIP':
      return podIPs[0] ?? '';
    case 'status.podIPs':
      return podIPs.join(',');
  }
  const keyed = /^metadata\.(labels|annotations)\['(.+)'\]$/.exec(path);
  if (keyed === null) throw new Error(`unsupported fieldPath: ${path}`);
  return metadata[keyed[1] as 'labels' | 'annotations']?.[keyed[2] as string] ?? '';
}

/** A line for each entry, sorted: `key="value"`. */
function formatMap(map: Readonly<Record<string, string>>): string {
  return Object.keys(map)
    .sort()
    .map((key) => `${key}=${JSON.stringify(map[key])}`)
    .join('\n');
}

/**
 * A request or limit of a container in units of a divisor, rounded up. A missing limit is the node's allocatable
 * amount.
 *
 * @param allocatable resources of the node that pods may use
 */
export function resourceFieldValue(
  { resources }: Pick<Container, 'resources'>,
  resource: string,
  divisor: string | undefined,
  allocatable: Readonly<Record<string, string>>,
): string {
  const [kind, name = ''] = splitOnce(resource);
  const limit = resources?.limits?.[name];
  const request = resources?.requests?.[name] ?? limit;
  if (kind !== 'limits' && kind !== 'requests') throw new Error(`unsupported container resource: ${resource}`);
  const found = kind === 'limits' ? (limit ?? allocatable[name]) : request;
  const amount = quantityOf(found ?? '0');
  const unit = quantityOf(divisor === undefined || divisor === '0' ? '1' : divisor);
  return name === 'cpu' ? inUnits(amount, unit, quantityMilliValue) : inUnits(amount, unit, quantityValue);
}

function inUnits(amount: Quantity, unit: Quantity, read: (quantity: Quantity) => number): string {
  return String(Math.ceil(read(amount) / Math.max(1, read(unit))));
}

function splitOnce(text: string): [string, string?] {
  const dot = text.indexOf('.');
  return dot < 0 ? [text] : [text.slice(0, dot), text.slice(dot + 1)];
}
