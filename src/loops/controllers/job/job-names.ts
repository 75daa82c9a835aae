import type { VendorNames } from '../../../base/machinery/vendor.js';

/** The labels, annotations and finalizers that link jobs and their pods. */
export interface JobNames {
  /** Finalizer of pods that are not counted yet. */
  readonly trackingFinalizer: string;
  /** Label and annotation with the completion index of a pod. */
  readonly completionIndex: string;
  /** Annotation: counted failures of the index before this pod. */
  readonly indexFailureCount: string;
  /** Annotation: failures before this pod that the policy ignored. */
  readonly indexIgnoredFailureCount: string;
  readonly jobNameLabel: string;
  readonly controllerUidLabel: string;
  /** The value of `managedBy` that means this controller. */
  readonly manager: string;
}

export function jobNames({ labelPrefix }: Pick<VendorNames, 'labelPrefix'>): JobNames {
  const prefix = `batch.${labelPrefix}`;
  return Object.freeze({
    trackingFinalizer: `${prefix}/job-tracking`,
    completionIndex: `${prefix}/job-completion-index`,
    indexFailureCount: `${prefix}/job-index-failure-count`,
    indexIgnoredFailureCount: `${prefix}/job-index-ignored-failure-count`,
    jobNameLabel: `${prefix}/job-name`,
    controllerUidLabel: `${prefix}/controller-uid`,
    manager: `${labelPrefix}/job-controller`,
  });
}
