import type { ApiObject } from '../../../base/machinery/api-object.js';
import { formatGroupResource } from '../../../base/machinery/group-version.js';
import { LargeMap } from '../../../base/machinery/large-map.js';
import { eachInSteps, inTurns } from '../../../base/machinery/turns.js';
import { Reflector } from '../../../objects/registry/informers/reflector.js';
import {
  isStoredKind,
  type StoredResource,
  storageOf,
  verbsOf,
} from '../../../objects/registry/resource-definition.js';
import type { ResourceRegistry } from '../../../objects/registry/resource-registry.js';
import { storedApiVersion } from '../../../objects/registry/store/object-codec.js';
import type { Storage, StoredObject } from '../../../storage/storage.interface.js';
import { type GraphNode, type GraphResource, nodeOf, type ObjectGraph, plainNodeOf } from './object-graph.js';

/** What a reflector passes on instead of an object. */
interface Reduced extends ApiObject {
  readonly node: GraphNode;
}

interface Monitor {
  readonly resource: GraphResource;
  readonly reflector: Reflector;
  readonly stop: AbortController;
  /** The uids of the objects, by `<namespace>/<name>`. */
  readonly names: LargeMap<string>;
  readonly filled: Promise<void>;
}

/** How many resources are read at once at the start. */
const startedAtOnce = 16;

/**
 * Keeps an {@link ObjectGraph} in step with everything that is stored, except objects that can have no dependents. Kinds
 * may come and go meanwhile.
 */
export class GraphMonitors {
  private readonly monitors = new Map<string, Monitor>();
  private signal: AbortSignal | undefined;
  /** The version up to which the graph shows all changes. */
  private complete = 0n;

  constructor(
    private readonly storage: Storage,
    private readonly registry: ResourceRegistry,
    private readonly graph: ObjectGraph,
    private readonly onFault: (error: unknown) => void,
    /** Called after the kinds have changed. */
    private readonly onKinds: () => void,
  ) {}

  /** Follows the store until the abort. Resolves when all objects are in the graph, or after the abort. */
  async use(signal: AbortSignal): Promise<void> {
    this.signal = signal;
    const leave = this.registry.onChange(() => {
      this.follow();
      this.onKinds();
    });
    signal.addEventListener('abort', leave, { once: true });
    const resources = [...this.wanted().values()];
    let next = 0;
    const worker = async () => {
      for (let one = resources[next++]; one !== undefined && !signal.aborted; one = resources[next++]) {
        await this.start(one)?.filled;
      }
    };
    await Promise.all(Array.from({ length: startedAtOnce }, worker));
    this.follow();
    await Promise.all([...this.monitors.values()].map(({ filled }) => filled));
  }

  /** Resolves when the graph shows everything up to `version`, or after the abort. */
  async reached(version: bigint): Promise<void> {
    if (version <= this.complete) return;
    const monitors = [...this.monitors.values()];
    await Promise.all(monitors.map(({ reflector }) => reflector.reached(version)));
    const isWhole = [...this.monitors.values()].every((monitor) => monitors.includes(monitor));
    if (isWhole && version > this.complete) this.complete = version;
  }

  /** Begins to follow new kinds, and stops following removed ones. */
  private follow(): void {
    const { signal } = this;
    if (signal === undefined || signal.aborted) return;
    const wanted = this.wanted();
    for (const [name, monitor] of this.monitors) if (!wanted.has(name)) void this.end(monitor).catch(this.onFault);
    for (const resource of wanted.values()) this.start(resource);
  }

  private wanted(): Map<string, GraphResource> {
    const found = new Map<string, GraphResource>();
    for (const definition of this.registry.definitions()) {
      if (!isStoredKind(definition) || !isCollected(definition)) continue;
      const storageResource = formatGroupResource(storageOf(definition));
      const stored = this.registry.findStored(storageResource);
      if (stored === undefined || found.has(storageResource)) continue;
      const { group, kind, namespaced } = stored.definition;
      found.set(storageResource, { storageResource, apiVersion: storedApiVersion(stored), group, kind, namespaced });
    }
    return found;
  }

  private start(resource: GraphResource): Monitor | undefined {
    const { signal } = this;
    if (signal === undefined || signal.aborted || this.monitors.has(resource.storageResource)) return undefined;
    const stop = new AbortController();
    const names = new LargeMap<string>();
    const sink = {
      reduce: (object: ApiObject, version: bigint): Reduced => ({
        metadata: {},
        node: nodeOf(resource, object, String(version)),
      }),
      glance: (stored: StoredObject): Reduced | undefined => {
        const node = plainNodeOf(resource, stored);
        return node === undefined ? undefined : { metadata: {}, node };
      },
      replace: (objects: readonly ApiObject[]) => this.replace(names, objects as readonly Reduced[]),
      set: (object: ApiObject) => this.set(names, (object as Reduced).node),
      delete: (namespace: string, name: string) => this.remove(names, `${namespace}/${name}`),
    };
    const reflector = new Reflector(this.storage, this.registry, resource.storageResource, sink, this.onFault);
    const filled = reflector.start(AbortSignal.any([signal, stop.signal]));
    filled.catch(this.onFault);
    const monitor = { resource, reflector, stop, names, filled };
    this.monitors.set(resource.storageResource, monitor);
    this.complete = 0n;
    return monitor;
  }

  /**
   * Stops following a removed kind. Its objects are most likely gone as well, but nothing will report it: those that
   * own something are looked up once more.
   */
  private async end(monitor: Monitor): Promise<void> {
    const { resource, reflector, stop, names, filled } = monitor;
    this.monitors.delete(resource.storageResource);
    stop.abort();
    await filled.catch(() => undefined);
    await reflector.stopped();
    for (const uid of names.values()) {
      const node = this.graph.get(uid);
      if (node === undefined || node.resource !== resource) continue;
      const { storageResource } = resource;
      const { namespace, name } = node;
      const isOwner = this.graph.hasDependents(uid);
      const live = isOwner ? await this.storage.get({ resource: storageResource, namespace, name }) : undefined;
      // The kind may be back, and its monitor has the object.
      if (this.graph.get(uid)?.resource !== resource) continue;
      if (isOwner && live?.uid !== uid) this.graph.remove(uid);
      else this.graph.drop(uid);
    }
  }

  /**
   * Replaces all nodes of a resource, in turns with other work, since there may be very many. Meanwhile nothing else
   * about this resource is reported.
   */
  private async replace(names: LargeMap<string>, objects: readonly Reduced[]): Promise<void> {
    // After a loss of writes in the database, owners may exist again.
    this.graph.absent.clear();
    const gone = new LargeMap<true>();
    await inTurns(eachInSteps(names.keys(), (key) => gone.set(key, true)));
    const put = ({ node }: Reduced) => {
      gone.delete(keyOf(node));
      const known = this.graph.get(node.uid);
      // A node left by the previous monitor is about to be removed with that monitor.
      const isOwn = known?.resource === node.resource;
      if (!isOwn || known.resourceVersion !== node.resourceVersion) this.set(names, node);
    };
    await inTurns(eachInSteps(objects, put));
    await inTurns(eachInSteps(gone.keys(), (key) => this.remove(names, key)));
  }

  private set(names: LargeMap<string>, node: GraphNode): void {
    const key = keyOf(node);
    const before = names.get(key);
    if (before !== node.uid) {
      if (before !== undefined) this.graph.remove(before);
      names.set(key, node.uid);
    }
    this.graph.set(node);
  }

  private remove(names: LargeMap<string>, key: string): void {
    const uid = names.get(key);
    if (uid === undefined) return;
    names.delete(key);
    this.graph.remove(uid);
  }
}

function isCollected(definition: StoredResource): boolean {
  return definition.strategyOptions?.dependents !== 'none' && verbsOf(definition).includes('delete');
}

function keyOf({ namespace, name }: GraphNode): string {
  return `${namespace}/${name}`;
}
