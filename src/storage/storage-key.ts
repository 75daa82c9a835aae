/**
 * Where an object lives. `resource` is the storage name of a kind: `<plural>` for the core group and
 * `<plural>.<group>` for named groups; `namespace` is the empty string for cluster-scoped objects.
 */
export interface StorageKey {
  readonly resource: string;
  readonly namespace: string;
  readonly name: string;
}
