import type { Api } from './api.js';
import { ApiFault } from './api-fault.js';
import { canList, type Kind, kindOf, pathOf } from './kinds.js';
import type { Metadata, OwnerReference } from './metadata.js';

/** The parts of an object that relations need. */
export interface Known {
  readonly kind: Kind;
  readonly metadata: Metadata;
}

/** An object and what depends on it. */
export interface Branch {
  readonly known: Known;
  readonly dependents: readonly Branch[];
  /** Dependents that are left out. */
  readonly more: number;
}

const pageSize = 500;
/** The most objects of each kind; for more, users open the table. */
const mostPerKind = 5000;
const parallel = 4;
/** Kinds whose objects own nothing and have no owner. */
const leftOut: ReadonlySet<string> = new Set(['events', 'componentstatuses']);

export interface Loaded {
  readonly objects: readonly Known[];
  /** Kinds that could not be read, and why. */
  readonly problems: readonly string[];
}

/** The metadata of all objects of a namespace, or of everything that is in no namespace, as far as the user may list them. */
export async function loadObjects(
  api: Api,
  kinds: readonly Kind[],
  suffix: string,
  namespace: string,
  signal: AbortSignal,
): Promise<Loaded> {
  const wanted = kinds.filter(
    (kind) => canList(kind) && kind.namespaced === (namespace !== '') && !leftOut.has(kind.resource),
  );
  const objects: Known[] = [];
  const problems: string[] = [];
  const accept = `application/json;as=PartialObjectMetadataList;v=v1;g=meta.${suffix},application/json`;
  const work = async () => {
    for (let kind = wanted.shift(); kind !== undefined; kind = wanted.shift()) {
      try {
        objects.push(...(await loadKind(api, kind, namespace, accept, problems, signal)));
      } catch (error) {
        signal.throwIfAborted();
        const code = error instanceof ApiFault ? error.code : 0;
        if (code !== 404 && code !== 405) problems.push(`${kind.resource}: ${(error as Error).message}`);
      }
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  return { objects, problems };
}

async function loadKind(
  api: Api,
  kind: Kind,
  namespace: string,
  accept: string,
  problems: string[],
  signal: AbortSignal,
): Promise<readonly Known[]> {
  const found: Known[] = [];
  let next = '';
  do {
    const query: Record<string, string> = { limit: String(pageSize) };
    if (next !== '') query.continue = next;
    const path = `${pathOf(kind, namespace)}?${new URLSearchParams(query)}`;
    const page = await api.json<{
      readonly metadata?: { readonly continue?: string };
      readonly items?: readonly { readonly metadata: Metadata }[] | null;
    }>(path, { accept, signal });
    for (const { metadata } of page.items ?? []) found.push({ kind, metadata });
    next = page.metadata?.continue ?? '';
  } while (next !== '' && found.length < mostPerKind);
  if (next !== '') problems.push(`${kind.resource}: only the first ${found.length} are looked at`);
  return found;
}

/**
 * The most branches of a tree. An object with several owners appears below each: somebody who writes owner references
 * could make an endless tree.
 */
const mostBranches = 1500;
const mostLevels = 50;

interface GrowingBranch extends Branch {
  readonly dependents: GrowingBranch[];
  more: number;
}

/** The dependents of an object among those loaded, and their dependents. */
export function branchOf(root: Known, objects: readonly Known[]): Branch {
  const byOwner = new Map<string, Known[]>();
  for (const known of objects) {
    for (const { uid } of known.metadata.ownerReferences ?? []) {
      const siblings = byOwner.get(uid);
      if (siblings === undefined) byOwner.set(uid, [known]);
      else siblings.push(known);
    }
  }
  const top: GrowingBranch = { known: root, dependents: [], more: 0 };
  const growing: { readonly branch: GrowingBranch; readonly path: ReadonlySet<string> }[] = [
    { branch: top, path: new Set([root.metadata.uid ?? '']) },
  ];
  let room = mostBranches;
  // The tree grows level by level, so that near dependents are shown first.
  for (const { branch, path } of growing) {
    // Owners in a circle are possible, if useless.
    const children = (byOwner.get(branch.known.metadata.uid ?? '') ?? []).filter(
      ({ metadata }) => !path.has(metadata.uid ?? ''),
    );
    children.sort((a, b) => (titleOf(a) < titleOf(b) ? -1 : 1));
    const shown = path.size > mostLevels ? [] : children.slice(0, room);
    room -= shown.length;
    branch.more = children.length - shown.length;
    for (const known of shown) {
      const child: GrowingBranch = { known, dependents: [], more: 0 };
      branch.dependents.push(child);
      growing.push({ branch: child, path: new Set([...path, known.metadata.uid ?? '']) });
    }
  }
  return top;
}

export function titleOf({ kind, metadata }: Known): string {
  return `${kind.kind} ${metadata.name}`;
}

/** An owner: the object, or the reference to one that does not exist or may not be read. */
export type Owner = { readonly known: Known } | { readonly reference: OwnerReference; readonly why: string };

const mostSteps = 10;

/** The owners of an object from the nearest to the last, following the controller where there are several. */
export async function loadOwners(
  api: Api,
  kinds: readonly Kind[],
  of: Metadata,
  signal: AbortSignal,
): Promise<Owner[]> {
  const owners: Owner[] = [];
  const seen = new Set([of.uid]);
  let references = of.ownerReferences ?? [];
  for (let step = 0; step < mostSteps && references.length > 0; step++) {
    const reference = references.find(({ controller }) => controller === true) ?? references[0];
    if (reference === undefined || seen.has(reference.uid)) return owners;
    seen.add(reference.uid);
    const kind = kindOf(kinds, reference.apiVersion, reference.kind);
    if (kind === undefined) return [...owners, { reference, why: 'the server does not serve its kind' }];
    try {
      const path = pathOf(kind, kind.namespaced ? (of.namespace ?? '') : '', reference.name);
      const { metadata } = await api.json<{ readonly metadata: Metadata }>(path, { signal });
      if (metadata.uid !== reference.uid)
        return [...owners, { reference, why: 'it is another object of this name now' }];
      owners.push({ known: { kind, metadata } });
      references = metadata.ownerReferences ?? [];
    } catch (error) {
      signal.throwIfAborted();
      return [...owners, { reference, why: (error as Error).message }];
    }
  }
  return owners;
}

/** An object with its kind, which is found by `apiVersion` and `kind`; undefined for an unknown kind. */
export function knownOf(
  kinds: readonly Kind[],
  apiVersion: string,
  kindName: string,
  metadata: Metadata,
): Known | undefined {
  const kind = kindOf(kinds, apiVersion, kindName);
  return kind === undefined ? undefined : { kind, metadata };
}
