/**
 * Annotations whose values can only be names, kinds and addresses. The SQL function `plinth.secret_annotations` has the
 * same list.
 */
export const shownSecretAnnotations: ReadonlySet<string> = new Set([
  'meta.helm.sh/release-name',
  'meta.helm.sh/release-namespace',
  'helm.sh/resource-policy',
  'helm.sh/hook',
  'cert-manager.io/certificate-name',
  'cert-manager.io/issuer-name',
  'cert-manager.io/issuer-kind',
  'cert-manager.io/issuer-group',
  'cert-manager.io/common-name',
  'cert-manager.io/alt-names',
  'cert-manager.io/ip-sans',
  'cert-manager.io/uri-sans',
  'argocd.argoproj.io/tracking-id',
  'argocd.argoproj.io/sync-wave',
]);

/**
 * Whether an annotation of a Secret may be shown to users who may not read Secrets. All other annotations may contain
 * anything: clients keep whole manifests in them, packed and encoded in any way, and hashes of short values.
 */
export function isShownSecretAnnotation(key: string): boolean {
  return shownSecretAnnotations.has(key) || /\/service-account\.(?:name|uid)$/.test(key);
}
