/** The fields of a node that locate its agent. */
export interface ReadNode {
  readonly metadata: { readonly name?: string };
  readonly status?: {
    readonly addresses?: readonly { readonly type: string; readonly address: string }[] | null;
    readonly daemonEndpoints?: { readonly kubeletEndpoint?: { readonly Port?: number } };
  };
}
