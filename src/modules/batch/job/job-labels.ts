import type { VendorNames } from '../../../base/machinery/vendor.js';

/** Labels that tie pods to their job: the one with the prefix of the group, and the one of older releases. */
export interface JobLabels {
  readonly uid: readonly [prefixed: string, older: string];
  readonly name: readonly [prefixed: string, older: string];
}

export function jobLabels({ labelPrefix }: Pick<VendorNames, 'labelPrefix'>): JobLabels {
  const prefix = `batch.${labelPrefix}`;
  return {
    uid: [`${prefix}/controller-uid`, 'controller-uid'],
    name: [`${prefix}/job-name`, 'job-name'],
  };
}
