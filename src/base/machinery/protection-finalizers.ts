import type { VendorNames } from './vendor.js';

/** The finalizers that keep claims, volumes and attributes of volumes in use from disappearing. */
export function protectionFinalizers({ labelPrefix }: VendorNames): {
  readonly claim: string;
  readonly volume: string;
  readonly attributesClass: string;
} {
  return {
    claim: `${labelPrefix}/pvc-protection`,
    volume: `${labelPrefix}/pv-protection`,
    attributesClass: `${labelPrefix}/vac-protection`,
  };
}
