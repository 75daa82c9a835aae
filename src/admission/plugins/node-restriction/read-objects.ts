import type { ApiObject } from '../../../machinery/api-object.js';

/** The fields of a pod that the plugin reads. */
export interface ReadPod extends ApiObject {
  readonly spec: {
    readonly nodeName?: string;
    readonly serviceAccountName?: string;
    readonly resourceClaims?: readonly unknown[];
    readonly volumes?: readonly {
      readonly projected?: { readonly sources?: readonly Readonly<Record<string, unknown>>[] | null } | null;
    }[];
  };
  readonly status?: { readonly resourceClaimStatuses?: readonly unknown[] };
}

/** The fields of a node that the plugin reads. */
export interface ReadNode extends ApiObject {
  readonly spec?: { readonly taints?: readonly unknown[]; readonly configSource?: unknown };
}

/** The fields of a token request that the plugin reads. */
export interface ReadTokenRequest extends ApiObject {
  readonly spec: {
    readonly boundObjectRef?: {
      readonly apiVersion?: string;
      readonly kind?: string;
      readonly name?: string;
      readonly uid?: string;
    } | null;
  };
}
