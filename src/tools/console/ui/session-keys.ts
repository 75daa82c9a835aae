import { basePath } from './base-path.js';

/**
 * The scripts' half of the secrets of sessions, one for each cluster. It is of no use without the cookie, which scripts can't
 * read, and is kept for the other tabs of this console: another one may have the same origin, below another path.
 */
const prefix = `plinth-console-key${basePath}`;
/** The cluster that this tab shows; other tabs may show others. */
const chosenName = `plinth-console-cluster${basePath}`;

/** The name under which the key of a cluster is kept; the first cluster, or the only one, has the plain one. */
export function keyName(cluster: string): string {
  return cluster === '' ? prefix : `${prefix}:${cluster}`;
}

function tried<T>(use: () => T): T | undefined {
  try {
    return use();
  } catch {
    // Storage may be switched off.
    return undefined;
  }
}

export function readKey(cluster: string): string | undefined {
  return tried(() => localStorage.getItem(keyName(cluster))) ?? undefined;
}

export function keepKey(cluster: string, key: string | undefined): void {
  tried(() =>
    key === undefined ? localStorage.removeItem(keyName(cluster)) : localStorage.setItem(keyName(cluster), key),
  );
}

/** The cluster that this tab shows; empty: the first. New tabs show the one that was chosen last. */
export function chosenCluster(): string {
  return tried(() => sessionStorage.getItem(chosenName) ?? localStorage.getItem(chosenName)) ?? '';
}

export function keepCluster(cluster: string): void {
  tried(() => {
    sessionStorage.setItem(chosenName, cluster);
    localStorage.setItem(chosenName, cluster);
  });
}
