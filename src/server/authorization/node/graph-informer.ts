import { setTimeout as delay } from 'node:timers/promises';
import type { ApiObject } from '../../../base/machinery/api-object.js';
import { formatGroupResource } from '../../../base/machinery/group-version.js';
import { eachInSteps, inTurns, type Steps } from '../../../base/machinery/turns.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import type { PodCertificateRequest } from '../../../objects/apis/certificates/v1/pod-certificate-request.types.js';
import type { PersistentVolume } from '../../../objects/apis/core/v1/persistent-volume.types.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { ResourceSlice } from '../../../objects/apis/resource/v1/resource-slice.types.js';
import type { VolumeAttachment } from '../../../objects/apis/storage/v1/volume-attachment.types.js';
import { type ObjectSink, Reflector } from '../../../objects/registry/informers/reflector.js';
import type { StoredResources } from '../../../objects/registry/store/object-codec.js';
import type { Storage, StoredObject } from '../../../storage/storage.interface.js';
import { haveSameReferences } from './have-same-references.js';
import type { NodeGraph } from './node-graph.js';
import type { ObjectsOfNodes } from './objects-of-nodes.js';
import { mirrorAnnotation, noReferences, type PodReferences, podReferences } from './pod-references.js';
import { volumeReferences } from './volume-references.js';

export interface GraphInformerOptions {
  readonly storage: Storage;
  readonly registry: StoredResources;
  readonly names: VendorNames;
  /**
   * Called when the informer lost its place in the change log of a resource; that part of the graph is then filled
   * again.
   */
  readonly onFault: (resource: string, error: unknown) => void;
  /** Maximum time to wait for reading the log up to its head. */
  readonly maxCatchUpMs: number;
}

/** Keeps a {@link NodeGraph} up to date with the store. */
export class GraphInformer {
  private readonly reflectors: readonly Reflector[];
  private underWay: Promise<void> | undefined;
  private next: Promise<void> | undefined;

  constructor(
    private readonly options: GraphInformerOptions,
    graph: NodeGraph,
  ) {
    const { storage, registry, names, onFault } = options;
    const named = (group: string, resource: string) =>
      formatGroupResource({ group: groupName(group, names), resource });
    const reflect = (resource: string, sink: ObjectSink) =>
      new Reflector(storage, registry, resource, sink, (error) => onFault(resource, error));
    this.reflectors = [
      reflect('pods', podSink(graph, mirrorAnnotation(names))),
      reflect('persistentvolumes', volumeSink(graph)),
      reflect(named('storage', 'volumeattachments'), nodeSink(graph.attachments, attachedNode)),
      reflect(named('resource', 'resourceslices'), nodeSink(graph.slices, nodeOfSlice)),
      reflect(named('certificates', 'podcertificaterequests'), nodeSink(graph.certificateRequests, nodeOfRequest)),
    ];
  }

  /** Resolves when the graph has been filled. It follows the store until the signal is aborted. */
  async start(signal: AbortSignal): Promise<void> {
    await Promise.all(this.reflectors.map((reflector) => reflector.start(signal)));
  }

  async stopped(): Promise<void> {
    await Promise.all(this.reflectors.map((reflector) => reflector.stopped()));
  }

  /** For how long changes may have been missed, in milliseconds. */
  get lostForMs(): number {
    return Math.max(...this.reflectors.map(({ lostForMs }) => lostForMs));
  }

  /**
   * Resolves when the graph contains everything that was committed before the call, or when that takes too long.
   * Concurrent calls share one read of the head of the log, so futile requests never load the store.
   */
  async catchUp(): Promise<void> {
    // A running catch-up may have read the head before this call.
    if (this.underWay !== undefined) {
      this.next ??= this.underWay.then(() => {
        this.next = undefined;
        return this.begin();
      });
      return this.next;
    }
    return this.begin();
  }

  private begin(): Promise<void> {
    const done = new AbortController();
    const limit = delay(this.options.maxCatchUpMs, undefined, { signal: done.signal, ref: false });
    const work = Promise.race([this.readToHead(), limit])
      // If the store can't be read, the graph stays as it is, so nothing new is allowed.
      .catch(() => undefined)
      .finally(() => {
        this.underWay = undefined;
        done.abort();
      });
    limit.catch(() => undefined);
    this.underWay = work;
    return work;
  }

  private async readToHead(): Promise<void> {
    const head = await this.options.storage.head();
    await Promise.all(this.reflectors.map((reflector) => reflector.reached(head)));
  }
}

/** Precedes the node's name in the stored JSON of a scheduled pod. */
const nodeNameKey = '"nodeName":';

/** An object reduced to its names and the data that the graph needs. */
interface Reduced<V> extends ApiObject {
  readonly kept: V;
}

function sinkOf<V>(
  read: (object: ApiObject) => V,
  to: {
    replace(values: ReadonlyMap<string, V>): Steps;
    set(key: string, value: V): void;
    delete(key: string): void;
  },
): ObjectSink {
  const keyOf = ({ metadata }: ApiObject) => keyText(metadata.namespace ?? '', metadata.name ?? '');
  return {
    reduce: (object): Reduced<V> => {
      const { namespace, name } = object.metadata;
      const metadata = { ...(namespace === undefined ? {} : { namespace }), ...(name === undefined ? {} : { name }) };
      return { metadata, kept: read(object) };
    },
    replace: async (objects) => {
      const values = new Map<string, V>();
      await inTurns(eachInSteps(objects as readonly Reduced<V>[], (object) => values.set(keyOf(object), object.kept)));
      await inTurns(to.replace(values));
    },
    set: (object) => to.set(keyOf(object), (object as Reduced<V>).kept),
    delete: (namespace, name) => to.delete(keyText(namespace, name)),
  };
}

function keyText(namespace: string, name: string): string {
  return namespace === '' ? name : `${namespace}/${name}`;
}

function podSink(graph: NodeGraph, mirror: string): ObjectSink {
  const sink = sinkOf((object) => podReferences(object as Pod & ApiObject, mirror), {
    replace: (pods) => graph.replacingPods(pods),
    set: (key, pod) => graph.setPod(key, pod),
    delete: (key) => graph.deletePod(key),
  });
  // A pod without a node gives no node access, whatever else it contains.
  const glance = ({ key: { namespace, name }, json }: StoredObject): Reduced<PodReferences> | undefined =>
    json.includes(nodeNameKey) ? undefined : { metadata: { namespace, name }, kept: noReferences };
  return { ...sink, glance, isSame: (before, after) => haveSameReferences(before, after, mirror) };
}

function volumeSink(graph: NodeGraph): ObjectSink {
  return sinkOf((object) => volumeReferences(object as ApiObject as PersistentVolume & ApiObject), {
    replace: (volumes) => graph.replacingVolumes(volumes),
    set: (name, volume) => graph.setVolume(name, volume),
    delete: (name) => graph.deleteVolume(name),
  });
}

const attachedNode = (object: ApiObject) => (object as VolumeAttachment & ApiObject).spec.nodeName;
const nodeOfSlice = (object: ApiObject) => (object as ResourceSlice & ApiObject).spec.nodeName ?? '';
const nodeOfRequest = (object: ApiObject) => (object as PodCertificateRequest & ApiObject).spec.nodeName;

/** @param read the name of the node that the object names; '' for none */
function nodeSink(objects: ObjectsOfNodes, read: (object: ApiObject) => string): ObjectSink {
  return sinkOf(read, {
    replace: (nodes) => objects.replacing(nodes),
    set: (key, node) => objects.set(key, node),
    delete: (key) => objects.delete(key),
  });
}
