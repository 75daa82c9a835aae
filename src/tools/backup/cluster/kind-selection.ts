import { nearest } from '../../../base/config/suggest.js';
import { StartupError } from '../../../base/machinery/startup-error.js';
import { type BackupSection, type NotTaken, resourceName } from '../format/lines.js';
import { plainKind } from '../recreate/creation-order.js';

/** The parts of a kind that a name can refer to. */
export type NamedKind = Pick<BackupSection, 'apiVersion' | 'kind' | 'resource'> & {
  readonly otherNames?: readonly string[];
};

/**
 * Kinds that are left out unless requested: reports about the cluster and locks of its processes. The value explains
 * why.
 */
const unasked: Readonly<Record<string, string>> = {
  '/Event': 'events are left out unless --include names them',
  'events/Event': 'events are left out unless --include names them',
  'coordination/Lease': 'leases are left out unless --include names them',
};

/** Which kinds are wanted: the names of `--include` and `--exclude`. */
export interface KindNames {
  /** All usual kinds if it is empty; `*` means these as well. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
}

/** The result of a selection of kinds. */
export interface ChosenKinds<T> {
  readonly kinds: readonly T[];
  readonly notTaken: readonly NotTaken[];
}

/** Whether a name refers to a kind: `deployments.apps`, `deployments`, `Deployment`, `deploy`. */
export function meansKind(name: string, kind: NamedKind): boolean {
  const lower = name.toLowerCase();
  const words = [kind.resource, kind.kind, ...(kind.otherNames ?? [])].map((word) => word.toLowerCase());
  if (words.includes(lower)) return true;
  const [, group = ''] = /\.(.*)/.exec(resourceName(kind)) ?? [];
  return group !== '' && words.some((word) => lower === `${word}.${group}`);
}

/**
 * The kinds that are wanted.
 *
 * @throws StartupError for a name that refers to no kind
 */
export function chooseKinds<T extends NamedKind>(all: readonly T[], { include, exclude }: KindNames): ChosenKinds<T> {
  for (const name of [...include, ...exclude]) {
    if (name === '*' || all.some((kind) => meansKind(name, kind))) continue;
    const meant = nearest(name, all.map(resourceName));
    throw new StartupError(
      `there is no kind ${JSON.stringify(name)} here${meant === undefined ? '' : `; did you mean ${meant}?`}`,
    );
  }
  const notTaken: NotTaken[] = [];
  const kinds = all.filter((kind) => {
    const what = resourceName(kind);
    if (exclude.some((name) => name !== '*' && meansKind(name, kind))) {
      notTaken.push({ what, why: 'excluded', asked: true });
      return false;
    }
    if (include.some((name) => name !== '*' && meansKind(name, kind))) return true;
    if (include.length > 0 && !include.includes('*')) return false;
    const why = unasked[plainKind(kind.apiVersion, kind.kind)];
    if (why === undefined) return true;
    notTaken.push({ what, why, asked: true });
    return false;
  });
  return { kinds, notTaken };
}
