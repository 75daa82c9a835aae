import type { VendorNames } from '../../base/machinery/vendor.js';

/** How the server calls what the proxy needs of it. */
export interface ProxyNames {
  readonly slicesPath: string;
  readonly rangesPath: string;
  /** Label of a slice: the service that it belongs to. */
  readonly serviceLabel: string;
  /** Label of a node: its zone. */
  readonly zoneLabel: string;
  /** Annotation of a slice: when the pod or the service changed that it was written for. */
  readonly triggerAnnotation: string;
  /**
   * Which services and slices this proxy looks after: not those that another proxy does, nor slices of services without an
   * address.
   */
  readonly selector: string;
}

export function proxyNames({ suffix, labelPrefix }: Pick<VendorNames, 'suffix' | 'labelPrefix'>): ProxyNames {
  return {
    slicesPath: `/apis/discovery.${suffix}/v1/endpointslices`,
    rangesPath: `/apis/networking.${suffix}/v1/servicecidrs`,
    serviceLabel: `${labelPrefix}/service-name`,
    zoneLabel: `topology.${labelPrefix}/zone`,
    triggerAnnotation: `endpoints.${labelPrefix}/last-change-trigger-time`,
    selector: `!service.${labelPrefix}/headless,!service.${labelPrefix}/service-proxy-name`,
  };
}
