import type { GroupKind } from '../../../base/machinery/group-version.js';

const mostRemembered = 50_000;

/**
 * Owners that are known not to exist. A uid is never reused, so an absent owner stays absent, unless the database is
 * restored to an earlier state.
 */
export class AbsentOwners {
  private readonly known = new Set<string>();

  add(kind: GroupKind, namespace: string, name: string, uid: string): void {
    const key = keyOf(kind, namespace, name, uid);
    this.known.delete(key);
    this.known.add(key);
    if (this.known.size <= mostRemembered) return;
    for (const oldest of this.known) {
      this.known.delete(oldest);
      break;
    }
  }

  clear(): void {
    this.known.clear();
  }

  has(kind: GroupKind, namespace: string, name: string, uid: string): boolean {
    return this.known.has(keyOf(kind, namespace, name, uid));
  }
}

function keyOf({ group, kind }: GroupKind, namespace: string, name: string, uid: string): string {
  return `${uid}/${group}/${kind}/${namespace}/${name}`;
}
