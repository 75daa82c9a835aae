import type { VendorNames } from '../../../../base/machinery/vendor.js';

/** Annotations that set profiles in older releases, before there were fields for them. */
export interface ProfileAnnotations {
  /** The key continues with a container's name. */
  readonly appArmorPrefix: string;
  readonly seccompPod: string;
  /** The key continues with a container's name. */
  readonly seccompPrefix: string;
}

export function profileAnnotations({ labelPrefix }: Pick<VendorNames, 'labelPrefix'>): ProfileAnnotations {
  return {
    appArmorPrefix: `container.apparmor.security.beta.${labelPrefix}/`,
    seccompPod: `seccomp.security.alpha.${labelPrefix}/pod`,
    seccompPrefix: `container.seccomp.security.alpha.${labelPrefix}/`,
  };
}

/** Precedes the name of a profile on the node, in values of these annotations. */
export const localProfilePrefix = 'localhost/';
