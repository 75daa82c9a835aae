/**
 * The files that all control planes of a cluster share, in the folder of certificates, by their keys in the Secret, which are those
 * of kubeadm. Everything else each machine makes for itself.
 */
export const sharedFiles = {
  'ca.key': { file: 'ca.key', mode: 0o600 },
  'ca.crt': { file: 'ca.crt', mode: 0o644 },
  'front-proxy-ca.key': { file: 'front-proxy-ca.key', mode: 0o600 },
  'front-proxy-ca.crt': { file: 'front-proxy-ca.crt', mode: 0o644 },
  'sa.key': { file: 'service-account.key', mode: 0o600 },
} as const satisfies Readonly<Record<string, { readonly file: string; readonly mode: number }>>;

/** A key of the Secret. */
export type SharedFileKey = keyof typeof sharedFiles;

export const sharedFileKeys = Object.keys(sharedFiles) as readonly SharedFileKey[];

/** Name of the Secret with the shared files, in the system namespace. */
export const sharedFilesSecret = 'kubeadm-certs';
