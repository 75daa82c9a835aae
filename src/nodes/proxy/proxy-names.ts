import type { VendorNames } from '../../base/machinery/vendor.js';

/** The server's names for the labels and annotations that the proxy reads. */
export interface ProxyNames {
  readonly slicesPath: string;
  readonly rangesPath: string;
  readonly policiesPath: string;
  /** Label of a slice: the service that it belongs to. */
  readonly serviceLabel: string;
  /** Label of a node: its zone. */
  readonly zoneLabel: string;
  /** Annotation of a slice: the time of the change of a pod or service that caused the last write of the slice. */
  readonly triggerAnnotation: string;
  /** Selects services and slices for this proxy: not those of another proxy, nor slices of headless services. */
  readonly selector: string;
}

export function proxyNames({ suffix, labelPrefix }: Pick<VendorNames, 'suffix' | 'labelPrefix'>): ProxyNames {
  return {
    slicesPath: `/apis/discovery.${suffix}/v1/endpointslices`,
    rangesPath: `/apis/networking.${suffix}/v1/servicecidrs`,
    policiesPath: `/apis/networking.${suffix}/v1/networkpolicies`,
    serviceLabel: `${labelPrefix}/service-name`,
    zoneLabel: `topology.${labelPrefix}/zone`,
    triggerAnnotation: `endpoints.${labelPrefix}/last-change-trigger-time`,
    selector: `!service.${labelPrefix}/headless,!service.${labelPrefix}/service-proxy-name`,
  };
}
