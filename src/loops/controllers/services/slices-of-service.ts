import type { Informer } from '../../../objects/registry/informers/informer.js';
import type { EndpointNames } from './endpoint-names.js';
import type { StoredSlice } from './pack-slices.js';

/** Finds the slices of a service that the program `manager` keeps. */
export function ownedSlices(
  slices: Informer<StoredSlice>,
  { serviceName, sliceManagedBy }: EndpointNames,
  manager: string,
): (namespace: string, service: string) => StoredSlice[] {
  const index = slices.index('service-name', ({ metadata }) => {
    const service = metadata.labels?.[serviceName];
    return service === undefined ? [] : [`${metadata.namespace}/${service}`];
  });
  return (namespace, service) =>
    [...index.get(`${namespace}/${service}`)].filter(({ metadata }) => metadata.labels?.[sliceManagedBy] === manager);
}

/** The keys of the services whose slices, kept by `manager`, changed. */
export function sliceKeys({ serviceName, sliceManagedBy }: EndpointNames, manager: string) {
  return (slice: StoredSlice | undefined, old: StoredSlice | undefined): string[] =>
    [slice, old].flatMap((one) => {
      const { namespace, labels = {} } = one?.metadata ?? {};
      const service = labels[serviceName];
      return service === undefined || labels[sliceManagedBy] !== manager ? [] : [`${namespace}/${service}`];
    });
}
