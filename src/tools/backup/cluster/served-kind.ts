/** A kind that a cluster serves, in one version. */
export interface ServedKind {
  /** `v1`, `apps/v1` */
  readonly apiVersion: string;
  readonly kind: string;
  /** The name of the resource in paths. */
  readonly resource: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly hasStatus: boolean;
  /** Other names of the kind. */
  readonly otherNames: readonly string[];
  /**
   * Identifies the stored resource: the same for two names of the same objects. Empty if the server does not report it.
   */
  readonly storage: string;
}
