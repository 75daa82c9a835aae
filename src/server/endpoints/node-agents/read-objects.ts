/** The fields of a pod that locate its containers. */
export interface ReadPod {
  readonly metadata: { readonly name?: string; readonly uid?: string };
  readonly spec: {
    readonly nodeName?: string;
    readonly containers?: readonly ReadContainer[] | null;
    readonly initContainers?: readonly ReadContainer[] | null;
    readonly ephemeralContainers?: readonly ReadContainer[] | null;
  };
  readonly status?: {
    readonly podIP?: string;
    readonly podIPs?: readonly { readonly ip?: string }[] | null;
  };
}

interface ReadContainer {
  readonly name: string;
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[] | null;
}
