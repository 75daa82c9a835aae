/**
 * The lines of a backup, unpacked. Lines that are JSON objects are objects of the cluster, as the server wrote them; the
 * others are lists that begin with their purpose:
 *
 *     ["plinth-backup",1,{header}]
 *     ["section",{section}]
 *     {object}
 *     ["sealed",false,"base64"]        in place of objects
 *     ["end",{end}]
 */
export const formatVersion = 1;

/** The longest line. An object of the API is much shorter. */
export const mostLineBytes = 96 * 1024 * 1024;
/** The most bytes of one object. */
export const mostObjectBytes = 32 * 1024 * 1024;

/** How the keys of sealed sections are derived from a passphrase or key file. */
export interface BackupSealing {
  readonly kdf: 'scrypt';
  readonly N: number;
  readonly r: number;
  readonly p: number;
  /** The salt, in base64. */
  readonly salt: string;
  readonly cipher: 'AES-256-GCM';
}

export interface BackupHeader {
  /** When the backup began: RFC 3339. */
  readonly createdAt: string;
  /** The program that wrote the backup, with its version. */
  readonly program: string;
  /** The version that the server reports for itself. */
  readonly serverVersion: string;
  /** The one version at which all objects were listed. */
  readonly resourceVersion: string;
  /** The requested namespaces; all if there are none. */
  readonly namespaces: readonly string[];
  readonly sealing?: BackupSealing;
}

/** A section line: the objects of one kind follow it. */
export interface BackupSection {
  readonly apiVersion: string;
  readonly kind: string;
  /** The name of the resource in paths. */
  readonly resource: string;
  readonly namespaced: boolean;
  /** Whether the kind has `/status`. */
  readonly hasStatus: boolean;
  readonly sealed: boolean;
}

/** Something that a backup or an import does not have, and why. */
export interface NotTaken {
  readonly what: string;
  readonly why: string;
  /** Whether the user requested that; otherwise it is missing. */
  readonly asked: boolean;
}

export interface BackupEnd {
  /** Numbers of objects, in the order of the sections. */
  readonly counts: readonly number[];
  readonly notTaken: readonly NotTaken[];
  /** SHA-256 in hex of all bytes of the file before the last block. */
  readonly sha256: string;
  /** Only in sealed files: proves that the writer of the whole file had the key. */
  readonly mac?: string;
}

/** `deployments.apps`, `pods`: the name of a resource without its version. */
export function resourceName({ apiVersion, resource }: Pick<BackupSection, 'apiVersion' | 'resource'>): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? resource : `${resource}.${apiVersion.slice(0, slash)}`;
}
