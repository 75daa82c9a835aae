/** A change of one field. */
export interface Change {
  readonly op: string;
  readonly path: string;
  readonly from?: unknown;
  readonly to?: unknown;
}

/** One version of an object. */
export interface Entry {
  readonly version: string;
  /** When; undefined for what happened before the history that is kept. */
  readonly time: string | undefined;
  readonly verb: string;
  readonly manager: string;
  readonly user: string;
  readonly changes: readonly Change[];
}

/** Versions that follow each other and have the same writer. */
export interface Fold {
  readonly manager: string;
  readonly user: string;
  readonly entries: readonly Entry[];
}

const noise = /^\/(?:status|metadata\/(?:managedFields|resourceVersion|generation))(?:\/|$)/;

/** Whether a change is about what somebody wants, not about how things stand. */
export function isWanted({ path }: Change): boolean {
  return !noise.test(path.startsWith('/') ? path : `/${path.replaceAll('.', '/')}`);
}

/** Whether an entry has changes, and all are of the status or of what goes with every write. */
export function isStatusOnly({ changes, verb }: Entry): boolean {
  return verb !== 'created' && verb !== 'deleted' && changes.length > 0 && !changes.some(isWanted);
}

/** More than this between two writes of one writer are two matters. */
const togetherMs = 10 * 60_000;

/**
 * Folds the versions of an object, the newest first, by their writers.
 *
 * @param withStatus whether changes of the status alone count; otherwise they are left out
 */
export function foldTimeline(entries: readonly Entry[], withStatus: boolean): readonly Fold[] {
  const folds: { manager: string; user: string; entries: Entry[] }[] = [];
  for (const entry of entries) {
    if (!withStatus && isStatusOnly(entry)) continue;
    const shown = withStatus ? entry : { ...entry, changes: entry.changes.filter(isWanted) };
    const last = folds.at(-1);
    const isSame = last !== undefined && last.manager === entry.manager && last.user === entry.user;
    if (isSame && isTogether(last.entries.at(-1), entry)) last.entries.push(shown);
    else folds.push({ manager: entry.manager, user: entry.user, entries: [shown] });
  }
  return folds;
}

function isTogether(later: Entry | undefined, earlier: Entry): boolean {
  if (later?.time === undefined || earlier.time === undefined) return later?.time === earlier.time;
  return Date.parse(later.time) - Date.parse(earlier.time) <= togetherMs;
}

/** The path of a field as people read it: `spec.replicas`, `metadata.labels[app.kubernetes.io/name]`. */
export function fieldText(path: string): string {
  if (!path.startsWith('/')) return path;
  return path
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part, index) => (/^\d+$/.test(part) || /[./]/.test(part) ? `[${part}]` : index === 0 ? part : `.${part}`))
    .join('');
}
