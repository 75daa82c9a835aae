import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseAllDocuments } from 'yaml';
import { formatGroupResource, parseApiVersion } from '../../../base/machinery/group-version.js';
import { errorText, StartupError } from '../../../base/machinery/startup-error.js';
import { subresourcesOf } from '../../../objects/registry/resource-definition.js';
import type { ResourceRegistry, ServedResource } from '../../../objects/registry/resource-registry.js';
import type { ClusterClient } from '../../backup/cluster/cluster-client.js';
import type { FixtureInput } from '../library/messages.js';

/** An object to apply, and where it comes from. */
interface Fixture {
  readonly object: FixtureObject;
  readonly source: string;
}

interface FixtureObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name?: string; readonly generateName?: string; readonly namespace?: string };
  readonly status?: unknown;
}

export interface FixtureDependencies {
  readonly client: ClusterClient;
  readonly registry: ResourceRegistry;
  /** The API group of definitions. */
  readonly definitionGroup: string;
  /** Resolves when the registry shows everything up to a version. */
  readonly reached: (version: bigint) => Promise<void>;
}

const fileTypes = new Set(['.yaml', '.yml', '.json']);
const establishMs = 30_000;
const pollMs = 5;
const manager = 'fieldManager=plinth-testing&force=true';
/** How long to wait for an extension of the API to become available. */
const kindMs = 5_000;

/**
 * Applies fixtures as an administrator, by server-side apply: definitions first, waiting until their kinds are served,
 * then namespaces, then everything else in its order. A status is written, too. Returns the resulting objects of the
 * server.
 *
 * @throws StartupError that names the object and where it comes from
 */
export async function applyFixtures(
  inputs: readonly FixtureInput[],
  dependencies: FixtureDependencies,
): Promise<object[]> {
  const fixtures = (await Promise.all(inputs.map(readInput))).flat();
  const rank = ({ object }: Fixture) => {
    const group = parseApiVersion(object.apiVersion)?.group;
    if (group === dependencies.definitionGroup && object.kind === 'CustomResourceDefinition') return 0;
    return group === '' && object.kind === 'Namespace' ? 1 : 2;
  };
  const ranked = fixtures.map((fixture, at) => ({ fixture, at, rank: rank(fixture) }));
  const results = new Array<object>(fixtures.length);
  const definitions = ranked.filter((one) => one.rank === 0);
  const apply = async ({ fixture, at }: { readonly fixture: Fixture; readonly at: number }) => {
    try {
      results[at] = await applyOne(fixture.object, dependencies);
    } catch (error) {
      const { kind, metadata } = fixture.object;
      const name = metadata.name ?? `${metadata.generateName ?? ''}*`;
      throw new StartupError(`${kind} ${name} of ${fixture.source}: ${errorText(error)}`, { cause: error });
    }
  };
  await Promise.all(definitions.map(apply));
  await Promise.all(
    definitions.map(async ({ fixture, at }) => {
      results[at] = await established(fixture, dependencies);
    }),
  );
  for (const one of ranked.filter(({ rank }) => rank > 0).sort((a, b) => a.rank - b.rank)) await apply(one);
  return results;
}

async function readInput(input: FixtureInput): Promise<Fixture[]> {
  if ('object' in input) return flat(input.object, 'the given object');
  if ('text' in input) return parse(outdented(input.text), 'the given text');
  const path = resolve(input.path);
  try {
    if (!(await stat(path)).isDirectory()) return parse(await readFile(path, 'utf8'), path);
    const names = (await readdir(path)).filter((name) => fileTypes.has(extname(name))).sort();
    if (names.length === 0) throw new StartupError(`${path} has no files that end in ${[...fileTypes].join(', ')}`);
    return (await Promise.all(names.map((name) => readInput({ path: join(path, name) })))).flat();
  } catch (error) {
    if (error instanceof StartupError) throw error;
    throw new StartupError(`the fixtures can't be read: ${errorText(error)}`, { cause: error });
  }
}

/** Removes the common indentation of YAML that is written inside a program. */
function outdented(text: string): string {
  const lines = text.split('\n');
  const indents = lines.filter((line) => line.trim() !== '').map((line) => line.length - line.trimStart().length);
  const common = Math.min(...indents);
  return Number.isFinite(common) ? lines.map((line) => line.slice(common)).join('\n') : text;
}

function parse(text: string, source: string): Fixture[] {
  return parseAllDocuments(text, { logLevel: 'error' }).flatMap((document) => {
    const [fault] = document.errors ?? [];
    if (fault !== undefined) throw new StartupError(`${source} is not YAML: ${fault.message}`);
    const value: unknown = document.toJS({ maxAliasCount: 100 });
    return value === null || value === undefined ? [] : flat(value, source);
  });
}

/** The objects of a list, or the object. */
function flat(value: unknown, source: string): Fixture[] {
  const { apiVersion, kind, metadata, items } = (value ?? {}) as Partial<Record<string, unknown>>;
  if (typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items)) {
    return items.flatMap((item) => flat(item, source));
  }
  const name = (metadata ?? {}) as Partial<Record<string, unknown>>;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') {
    throw new StartupError(`${source} has something without apiVersion or kind`);
  }
  if (typeof name.name !== 'string' && typeof name.generateName !== 'string') {
    throw new StartupError(`${source} has an object of kind ${kind} without metadata.name`);
  }
  return [{ object: value as FixtureObject, source }];
}

async function applyOne(object: FixtureObject, dependencies: FixtureDependencies): Promise<object> {
  const resource = await findKind(object, dependencies.registry);
  const { name, namespace } = object.metadata;
  const collection = pathOf(resource, namespace);
  const options = { signal: AbortSignal.timeout(establishMs) };
  const contentType = 'application/apply-patch+yaml';
  const written = (name === undefined
    ? await dependencies.client.send('POST', collection, { ...options, body: object })
    : await dependencies.client.send('PATCH', `${collection}/${encodeURIComponent(name)}?${manager}`, {
        ...options,
        contentType,
        body: withoutServerFields(object),
      })) as unknown as FixtureObject;
  const hasStatus = subresourcesOf(resource.served.definition ?? resource.definition).some(
    (part) => part.name === 'status',
  );
  if (object.status === undefined || !hasStatus) return written;
  const path = `${collection}/${encodeURIComponent(written.metadata.name ?? '')}/status?${manager}`;
  const { apiVersion, kind, status } = object;
  const body = { apiVersion, kind, metadata: { name: written.metadata.name, namespace }, status };
  return dependencies.client.send('PATCH', path, { ...options, contentType, body });
}

/** Fields of an object that was read from another cluster. */
function withoutServerFields(object: FixtureObject): object {
  const { resourceVersion, uid, managedFields, creationTimestamp, generation, selfLink, ...metadata } =
    object.metadata as Record<string, unknown>;
  return { ...object, metadata };
}

async function findKind({ apiVersion, kind }: FixtureObject, registry: ResourceRegistry): Promise<ServedResource> {
  const { group, version } = parseApiVersion(apiVersion) ?? { group: apiVersion, version: '' };
  for (const deadline = performance.now() + kindMs; ; await delay(pollMs)) {
    const found = registry.findKind(group, version, kind);
    if (found !== undefined) return found;
    // Its definition may be about to be established.
    if (performance.now() > deadline || registry.hasGroup(group)) break;
  }
  throw new StartupError(`the server knows no kind ${kind} in ${apiVersion}`);
}

function pathOf({ apiVersion, definition }: ServedResource, namespace = 'default'): string {
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const middle = definition.namespaced ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${root}${middle}/${definition.resource}`;
}

interface Definition {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
  readonly spec: { readonly group: string; readonly versions: readonly { name: string; served: boolean }[] };
  readonly status?: {
    readonly acceptedNames?: { readonly plural?: string };
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly message?: string }[];
  };
}

async function established(
  { object, source }: Fixture,
  { client, reached, registry }: FixtureDependencies,
): Promise<object> {
  const name = object.metadata.name ?? '';
  const { group } = parseApiVersion(object.apiVersion) ?? { group: '' };
  const path = `/apis/${object.apiVersion}/customresourcedefinitions/${encodeURIComponent(name)}`;
  let live: Definition | undefined;
  for (const deadline = performance.now() + establishMs; performance.now() < deadline; await delay(pollMs)) {
    live = (await client.send('GET', path, { signal: AbortSignal.timeout(establishMs) })) as unknown as Definition;
    const holds = (type: string) => live?.status?.conditions?.some((one) => one.type === type && one.status === 'True');
    if (!holds('Established') || !holds('NamesAccepted')) continue;
    await reached(BigInt(live.metadata.resourceVersion));
    return live;
  }
  const why = live?.status?.conditions?.find(({ status }) => status === 'False')?.message;
  const served = formatGroupResource({ group, resource: name });
  throw new StartupError(
    `${served} of ${source} was not established within ${establishMs / 1000} s` +
      `${why === undefined ? '' : `: ${why}`}${registry.hasGroup(group) ? '' : ' (its group is not served)'}`,
  );
}
