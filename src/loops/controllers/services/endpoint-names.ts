import type { VendorNames } from '../../../base/machinery/vendor.js';

/** Names of labels and annotations by which the service controllers recognize their objects. */
export interface EndpointNames {
  /** Label of a slice: the service that it belongs to. */
  readonly serviceName: string;
  /** Label of a slice: the program that keeps it. */
  readonly sliceManagedBy: string;
  /** Values of that label, for the slices of each loop. */
  readonly sliceLoop: string;
  readonly mirroringLoop: string;
  /** Label of Endpoints: the program that keeps them. */
  readonly managedBy: string;
  /** Label of Endpoints and slices whose service has no address. */
  readonly headless: string;
  /** Label of Endpoints that must not be mirrored. */
  readonly skipMirror: string;
  /** Annotation of Endpoints that are the lock of a leader election. */
  readonly leader: string;
  /** Annotation: when the pods or the service changed. */
  readonly triggerTime: string;
  /** Annotation of Endpoints that lack addresses. */
  readonly overCapacity: string;
  /** Label of a node: its zone. */
  readonly zone: string;
}

export function endpointNames({ labelPrefix, suffix }: VendorNames): EndpointNames {
  return {
    serviceName: `${labelPrefix}/service-name`,
    sliceManagedBy: `endpointslice.${labelPrefix}/managed-by`,
    sliceLoop: `endpointslice-controller.${suffix}`,
    mirroringLoop: `endpointslicemirroring-controller.${suffix}`,
    managedBy: `endpoints.${labelPrefix}/managed-by`,
    headless: `service.${labelPrefix}/headless`,
    skipMirror: `endpointslice.${labelPrefix}/skip-mirror`,
    leader: `control-plane.alpha.${labelPrefix}/leader`,
    triggerTime: `endpoints.${labelPrefix}/last-change-trigger-time`,
    overCapacity: `endpoints.${labelPrefix}/over-capacity`,
    zone: `topology.${labelPrefix}/zone`,
  };
}
