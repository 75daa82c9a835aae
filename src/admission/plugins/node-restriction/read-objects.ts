import type { ApiObject } from '../../../machinery/api-object.js';

/** What the plugin reads of a pod. */
export interface ReadPod extends ApiObject {
  readonly spec: {
    readonly nodeName?: string;
    readonly serviceAccountName?: string;
    readonly resourceClaims?: readonly unknown[];
    readonly volumes?: readonly {
      readonly projected?: { readonly sources?: readonly Readonly<Record<string, unknown>>[] | null } | null;
    }[];
  };
}

/** What the plugin reads of a node. */
export interface ReadNode extends ApiObject {
  readonly spec?: { readonly taints?: readonly unknown[]; readonly configSource?: unknown };
}

/** What the plugin reads of a request for a token. */
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
