/** The fields of a pod that tell where its log is. */
export interface ReadPod {
  readonly metadata: { readonly name?: string };
  readonly spec: {
    readonly nodeName?: string;
    readonly containers?: readonly ReadContainer[] | null;
    readonly initContainers?: readonly ReadContainer[] | null;
    readonly ephemeralContainers?: readonly ReadContainer[] | null;
  };
}

interface ReadContainer {
  readonly name: string;
}

/** The fields of a node that tell where its agent is. */
export interface ReadNode {
  readonly status?: {
    readonly addresses?: readonly { readonly type: string; readonly address: string }[] | null;
    readonly daemonEndpoints?: { readonly kubeletEndpoint?: { readonly Port?: number } };
  };
}
