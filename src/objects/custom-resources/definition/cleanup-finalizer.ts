import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';

/** The finalizer that holds a definition until the objects of its kind are gone. */
export function cleanupFinalizer(names: VendorNames): string {
  return `customresourcecleanup.${groupName('apiextensions', names)}`;
}
