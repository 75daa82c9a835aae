import type { VendorNames } from './vendor.js';

/**
 * The finalizers that protect PersistentVolumeClaims, PersistentVolumes and VolumeAttributesClasses in use from
 * deletion.
 */
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
