import { StartupError } from '../../../base/machinery/startup-error.js';
import { type NotTaken, resourceName } from '../format/lines.js';
import { printable } from '../format/printable.js';
import { ApiFault } from './api-fault.js';
import { BrokenList } from './broken-list.js';
import { type ClusterClient, fieldsOf } from './cluster-client.js';
import { collectionPath } from './collection-path.js';
import { type ChosenKinds, chooseKinds, type KindNames, meansKind } from './kind-selection.js';
import { servedKinds } from './kinds.js';
import type { ServedKind } from './served-kind.js';

/** Which objects of a cluster are wanted. */
export interface DumpSelection extends KindNames {
  /** Only these namespaces, with their contents; the whole cluster if none are named. */
  readonly namespaces: readonly string[];
}

/** Receives what a dump reads. */
export interface DumpSink {
  /** A dump begins. If another one began before, its objects do not count. */
  begin(start: { readonly resourceVersion: string; readonly serverVersion: string }): Promise<void>;
  kind(kind: ServedKind): Promise<void>;
  /** @param object JSON in one line, with `apiVersion` and `kind` */
  object(object: Buffer): Promise<void>;
}

export interface DumpDependencies {
  readonly client: ClusterClient;
  readonly selection: DumpSelection;
  readonly sink: DumpSink;
  readonly signal: AbortSignal;
  /** Reports something to the user that does not end the dump. */
  readonly warn: (line: string) => void;
}

/** How many objects one part of a list has. */
const pageSize = 500;
/** How often a dump is started in total when its version expires before its end. */
const mostTries = 5;
/** The most kinds and groups named as missing, and the most characters of each reason. */
const mostNamed = 1000;
const mostReason = 300;

/** The version can't be listed any more, or the cluster lost a kind meanwhile: the dump has to begin again. */
class VersionGone extends Error {}

/**
 * Passes on all objects of a cluster as they were at one version. Every kind is listed at that version, so that the
 * result is the state at one moment, whatever was written meanwhile.
 *
 * @returns the missing parts, with reasons
 * @throws StartupError when the server keeps no version for long enough, or nothing can be listed
 */
export async function dump(dependencies: DumpDependencies): Promise<readonly NotTaken[]> {
  for (let tries = 1; ; tries++) {
    try {
      return await dumpOnce(dependencies);
    } catch (error) {
      if (!(error instanceof VersionGone || error instanceof BrokenList)) throw error;
      if (tries === mostTries) {
        throw new StartupError(
          `${error.message}, ${tries} times; a server keeps old versions for longer with --watch-history (Plinth), ` +
            'and parts of a cluster take less time: --namespace, --include',
          { cause: error },
        );
      }
      dependencies.warn(`${error.message}; starting over`);
    }
  }
}

async function dumpOnce({ client, selection, sink, signal }: DumpDependencies): Promise<readonly NotTaken[]> {
  const { gitVersion } = fieldsOf(
    await client.send<unknown>('GET', '/version', { signal }).catch((error: unknown) => {
      if (error instanceof ApiFault) return {};
      throw error;
    }),
  );
  const before = await servedKinds(client, signal);
  const resourceVersion = await presentVersion(client, before.kinds, selection, signal);
  const after = await servedKinds(client, signal);
  // A kind that was removed in between had objects at the version.
  const names = new Set(after.kinds.map(nameOf));
  const lost = before.kinds.find((kind) => !names.has(nameOf(kind)));
  if (lost !== undefined) throw new VersionGone(`the kind ${printable(resourceName(lost))} was removed meanwhile`);

  const chosen = scoped(chooseKinds(after.kinds, selection), selection);
  const notTaken = [...after.notTaken, ...chosen.notTaken];
  await sink.begin({ resourceVersion, serverVersion: typeof gitVersion === 'string' ? gitVersion.slice(0, 200) : '' });
  for (const kind of chosen.kinds) {
    const why = await dumpKind(client, kind, { selection, sink, signal, resourceVersion });
    if (why !== undefined) notTaken.push({ what: resourceName(kind), why, asked: false });
  }
  return limited(notTaken);
}

/** Limits the missing parts that are named at the end of a backup. */
function limited(notTaken: readonly NotTaken[]): readonly NotTaken[] {
  const named = notTaken.slice(0, mostNamed).map((one) => ({ ...one, why: one.why.slice(0, mostReason) }));
  const more = notTaken.slice(mostNamed);
  if (more.length === 0) return named;
  return [...named, { what: `${more.length} more`, why: 'not named', asked: more.every(({ asked }) => asked) }];
}

/** When namespaces are chosen: they and what is in them, and other cluster-scoped kinds only if they are named. */
function scoped(chosen: ChosenKinds<ServedKind>, { namespaces, include }: DumpSelection): ChosenKinds<ServedKind> {
  if (namespaces.length === 0) return chosen;
  const isWanted = (kind: ServedKind) =>
    kind.namespaced || isNamespaces(kind) || include.some((name) => name !== '*' && meansKind(name, kind));
  return { ...chosen, kinds: chosen.kinds.filter(isWanted) };
}

/** The newest version of the cluster, from the first kind that may be listed. */
async function presentVersion(
  client: ClusterClient,
  kinds: readonly ServedKind[],
  { namespaces }: DumpSelection,
  signal: AbortSignal,
): Promise<string> {
  let refusal: ApiFault | undefined;
  for (const kind of kinds) {
    const namespace = kind.namespaced ? namespaces[0] : undefined;
    try {
      const path = `${collectionPath(kind, namespace)}?limit=1`;
      const { resourceVersion = '' } = await client.list(path, signal, async () => {});
      if (/^[1-9]\d*$/.test(resourceVersion)) return resourceVersion;
    } catch (error) {
      if (!(error instanceof ApiFault)) throw error;
      refusal ??= error;
    }
  }
  throw new StartupError(`nothing can be listed: ${refusal?.message ?? 'the server has no kinds'}`);
}

interface KindParts extends Pick<DumpDependencies, 'selection' | 'sink' | 'signal'> {
  readonly resourceVersion: string;
}

/** Passes on the objects of a kind. Returns the reason if they can't be listed. */
async function dumpKind(
  client: ClusterClient,
  kind: ServedKind,
  { selection, sink, signal, resourceVersion }: KindParts,
): Promise<string | undefined> {
  const { namespaces } = selection;
  const places: readonly string[] =
    namespaces.length === 0
      ? [collectionPath(kind)]
      : kind.namespaced
        ? namespaces.map((name) => collectionPath(kind, name))
        : isNamespaces(kind)
          ? namespaces.map(
              (name) => `${collectionPath(kind)}?fieldSelector=metadata.name%3D${encodeURIComponent(name)}`,
            )
          : [collectionPath(kind)];
  const type = Buffer.from(`{"apiVersion":${JSON.stringify(kind.apiVersion)},"kind":${JSON.stringify(kind.kind)}`);
  let hasBegun = false;
  for (const place of places) {
    const selector = `${place}${place.includes('?') ? '&' : '?'}limit=${pageSize}`;
    let query = `&resourceVersion=${resourceVersion}&resourceVersionMatch=Exact`;
    for (;;) {
      let token: string;
      try {
        const part = await client.list(`${selector}${query}`, signal, async (item) => {
          if (!hasBegun) await sink.kind(kind);
          hasBegun = true;
          await sink.object(withType(item, type));
        });
        token = part.continue ?? '';
        if (part.resourceVersion !== resourceVersion) {
          if (hasBegun) throw new StartupError(`${nameOf(kind)} was listed at another version than asked for`);
          return `the server has no list of it at version ${resourceVersion}`;
        }
      } catch (error) {
        if (!(error instanceof ApiFault)) throw error;
        if (error.status === 410) throw new VersionGone(`version ${resourceVersion} expired before the end`);
        if (hasBegun) throw new VersionGone(`${nameOf(kind)} can't be listed any more: ${error.message}`);
        return error.message;
      }
      if (token === '') break;
      query = `&continue=${encodeURIComponent(token)}`;
    }
  }
  if (!hasBegun) await sink.kind(kind);
  return undefined;
}

const typed = [Buffer.from('{"kind":'), Buffer.from('{"apiVersion":')];
const emptyObject = 2;

/** Objects in lists of most kinds don't contain their kind. */
function withType(item: Buffer, type: Buffer): Buffer {
  if (typed.some((start) => item.subarray(0, start.length).equals(start))) return item;
  const comma = item.length > emptyObject ? ',' : '';
  return Buffer.concat([type, Buffer.from(comma), item.subarray(1)]);
}

function isNamespaces({ apiVersion, resource }: ServedKind): boolean {
  return apiVersion === 'v1' && resource === 'namespaces';
}

function nameOf(kind: ServedKind): string {
  return `${resourceName(kind)}/${kind.apiVersion}`;
}
