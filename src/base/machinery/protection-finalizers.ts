import type { VendorNames } from './vendor.js';

/** The finalizers that keep claims and volumes in use from disappearing. */
export function protectionFinalizers({ labelPrefix }: VendorNames): {
  readonly claim: string;
  readonly volume: string;
} {
  return { claim: `${labelPrefix}/pvc-protection`, volume: `${labelPrefix}/pv-protection` };
}
