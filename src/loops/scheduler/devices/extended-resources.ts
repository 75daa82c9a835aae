import { quantityValue } from '../../../base/machinery/values/quantity.js';
import type { Container } from '../../../objects/apis/core/v1/container.types.js';
import type { ContainerExtendedResourceRequest } from '../../../objects/apis/core/v1/pod.types.js';
import type { PodSpec } from '../../../objects/apis/core/v1/pod-spec.types.js';
import type { DeviceRequest } from '../../../objects/apis/resource/v1/device-claim.types.js';

/** The requests for devices that stand for extended resources of containers, and which container uses which of them. */
export interface ExtendedRequests {
  readonly requests: readonly DeviceRequest[];
  readonly mappings: readonly ContainerExtendedResourceRequest[];
}

interface Numbered {
  readonly container: Container;
  readonly index: number;
}

/** A request for the devices of one container. */
interface OwnRequest {
  readonly name: string;
  readonly deviceClassName: string;
  readonly count: number;
}

/**
 * Turns extended resources into requests for devices. A container that ends before the others begin uses the devices of
 * later ones, and only requests what is missing; of several containers that end early, the largest requests it for all
 * of them.
 *
 * @param classOf the names of the classes by those of the resources
 */
export function extendedRequests(spec: PodSpec, classOf: ReadonlyMap<string, string>): ExtendedRequests {
  const inits = spec.initContainers ?? [];
  const containers = [...inits, ...(spec.containers ?? [])].map((container, index) => ({ container, index }));
  const isShort = ({ container, index }: Numbered) => index < inits.length && container.restartPolicy !== 'Always';
  const requests: OwnRequest[] = [];
  const mappings: ContainerExtendedResourceRequest[] = [];
  for (const [resource, deviceClassName] of [...classOf].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const long: (OwnRequest | undefined)[] = containers.map(() => undefined);
    for (const each of containers.filter((one) => !isShort(one))) {
      const { own, used } = requestOf(each, resource, deviceClassName, []);
      long[each.index] = own;
      mappings.push(...used);
    }
    let largest: OwnRequest | undefined;
    const ofShort: { own: OwnRequest | undefined; used: readonly ContainerExtendedResourceRequest[] }[] = [];
    for (const each of containers.filter(isShort)) {
      const made = requestOf(each, resource, deviceClassName, long.slice(each.index));
      ofShort.push(made);
      if (made.own !== undefined && made.own.count > (largest?.count ?? 0)) largest = made.own;
    }
    const replaced = new Set(ofShort.flatMap(({ own }) => (own === undefined ? [] : [own.name])));
    for (const { used } of ofShort) {
      for (const each of used) {
        const name = largest !== undefined && replaced.has(each.requestName) ? largest.name : each.requestName;
        mappings.push({ ...each, requestName: name });
      }
    }
    requests.push(...[largest, ...long].filter((each) => each !== undefined));
  }
  return {
    requests: requests
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .map(({ name, deviceClassName, count }) => {
        return { name, exactly: { deviceClassName, allocationMode: 'ExactCount' as const, count } };
      }),
    mappings,
  };
}

/** @param reusable the requests of others whose devices the container can use before they begin */
function requestOf(
  { container, index }: Numbered,
  resourceName: string,
  deviceClassName: string,
  reusable: readonly (OwnRequest | undefined)[],
): { readonly own: OwnRequest | undefined; readonly used: readonly ContainerExtendedResourceRequest[] } {
  const asked = container.resources?.requests ?? {};
  const count = quantityValue(asked[resourceName] ?? '0');
  const used: ContainerExtendedResourceRequest[] = [];
  if (count === 0) return { own: undefined, used };
  const uses = (requestName: string) => used.push({ containerName: container.name, resourceName, requestName });
  let has = 0;
  for (const each of reusable) {
    if (each === undefined) continue;
    has += each.count;
    uses(each.name);
    if (has >= count) return { own: undefined, used };
  }
  const place = Object.keys(asked).sort().indexOf(resourceName);
  const own = { name: `container-${index}-request-${place}`, deviceClassName, count: count - has };
  uses(own.name);
  return { own, used };
}
