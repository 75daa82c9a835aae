import type { ApiObject } from '../../../../base/machinery/api-object.js';

/** A source of a projected volume. */
type ReadProjection = Readonly<Record<string, unknown>> & {
  readonly serviceAccountToken?: { readonly audience?: string } | null;
  readonly podCertificate?: { readonly signerName?: string } | null;
};

/** The fields of a pod that the plugin reads. */
export interface ReadPod extends ApiObject {
  readonly spec: {
    readonly nodeName?: string;
    readonly serviceAccountName?: string;
    readonly resourceClaims?: readonly unknown[];
    readonly volumes?: readonly {
      readonly name?: string;
      readonly projected?: { readonly sources?: readonly ReadProjection[] | null } | null;
      readonly csi?: { readonly driver?: string } | null;
      readonly persistentVolumeClaim?: { readonly claimName?: string } | null;
      readonly ephemeral?: object | null;
    }[];
  };
  readonly status?: {
    readonly resourceClaimStatuses?: readonly unknown[];
    readonly extendedResourceClaimStatus?: unknown;
  };
}

/** The fields of a node that the plugin reads. */
export interface ReadNode extends ApiObject {
  readonly spec?: { readonly taints?: readonly unknown[]; readonly configSource?: unknown };
}

/** The fields of a token request that the plugin reads. */
export interface ReadTokenRequest extends ApiObject {
  readonly spec: {
    readonly audiences?: readonly string[] | null;
    readonly boundObjectRef?: {
      readonly apiVersion?: string;
      readonly kind?: string;
      readonly name?: string;
      readonly uid?: string;
    } | null;
  };
}

/** The fields of a persistent volume claim that the plugin reads. */
export interface ReadClaim extends ApiObject {
  readonly spec: { readonly volumeName?: string };
}

/** The fields of a persistent volume that the plugin reads. */
export interface ReadVolume extends ApiObject {
  readonly spec: { readonly csi?: { readonly driver?: string } | null };
}

/** The fields of a volume driver that the plugin reads. */
export interface ReadCsiDriver extends ApiObject {
  readonly spec: { readonly tokenRequests?: readonly { readonly audience?: string }[] | null };
}

/** The fields of a request for a pod's certificate that the plugin reads. */
export interface ReadPodCertificateRequest extends ApiObject {
  readonly spec: {
    readonly signerName: string;
    readonly podName: string;
    readonly podUID: string;
    readonly serviceAccountName: string;
    readonly serviceAccountUID: string;
    readonly nodeName: string;
    readonly nodeUID: string;
  };
}
