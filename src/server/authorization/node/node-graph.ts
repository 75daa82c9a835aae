import { LargeMap } from '../../../base/machinery/large-map.js';
import { eachInSteps, type Steps } from '../../../base/machinery/turns.js';
import { ObjectsOfNodes } from './objects-of-nodes.js';
import type { PodReferences } from './pod-references.js';
import type { VolumeReferences } from './volume-references.js';

/**
 * An object that pods or volumes refer to. All references share one instance, which is removed with the last of them.
 */
class Target {
  uses = 0;
  /** For a claim: its volumes. */
  volumes: Set<VolumeEntry> | undefined;

  constructor(readonly key: string) {}
}

interface PodEntry {
  readonly node: string;
  readonly targets: readonly Target[];
}

interface VolumeEntry {
  readonly claim: Target;
  readonly secrets: readonly Target[];
}

/**
 * Which node needs which objects: pods on nodes and the objects they refer to, claims and their volumes, and objects that
 * name the node.
 * Only names are stored. The cost of a change depends on the changed object, that of a check on the pods of the node.
 */
export class NodeGraph {
  private readonly targets = new LargeMap<Target>();
  private readonly pods = new LargeMap<PodEntry>();
  private readonly podsByNode = new Map<string, Set<PodEntry>>();
  private readonly volumes = new Map<string, VolumeEntry>();
  private readonly listeners = new Set<() => void>();
  /** Attachments of volumes, by the node that they are attached to. */
  readonly attachments = new ObjectsOfNodes(() => this.grown());
  /** Slices of devices, by the node whose devices they show. */
  readonly slices = new ObjectsOfNodes(() => this.grown());
  /** Requests for certificates of pods, by the node of the pod. */
  readonly certificateRequests = new ObjectsOfNodes(() => this.grown());

  /**
   * Calls `listener` whenever a node may have gained access to something. Returns a function that removes the listener.
   */
  onGrowth(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** @param key namespace and name */
  setPod(key: string, { node, keys }: PodReferences): void {
    const before = this.pods.get(key);
    if (before !== undefined && isSame(before, node, keys)) return;
    const entry = node === '' ? undefined : { node, targets: keys.map((target) => this.use(target)) };
    if (before !== undefined) this.dropPod(key, before);
    if (entry === undefined) return;
    this.pods.set(key, entry);
    const pods = this.podsByNode.get(node);
    if (pods === undefined) this.podsByNode.set(node, new Set([entry]));
    else pods.add(entry);
    this.grown();
  }

  deletePod(key: string): void {
    const entry = this.pods.get(key);
    if (entry !== undefined) this.dropPod(key, entry);
  }

  /** Replaces all pods, in steps: first removes pods that are not in `pods`. */
  *replacingPods(pods: ReadonlyMap<string, PodReferences>): Steps {
    yield* eachInSteps(this.pods.keys(), (key) => {
      if (!pods.has(key)) this.deletePod(key);
    });
    yield* eachInSteps(pods, ([key, references]) => this.setPod(key, references));
  }

  setVolume(name: string, { claim, secrets }: VolumeReferences): void {
    const before = this.volumes.get(name);
    let entry: VolumeEntry | undefined;
    if (claim !== '') entry = { claim: this.use(claim), secrets: secrets.map((target) => this.use(target)) };
    if (before !== undefined) this.dropVolume(name, before);
    if (entry === undefined) return;
    this.volumes.set(name, entry);
    entry.claim.volumes ??= new Set();
    entry.claim.volumes.add(entry);
    this.grown();
  }

  deleteVolume(name: string): void {
    const entry = this.volumes.get(name);
    if (entry !== undefined) this.dropVolume(name, entry);
  }

  *replacingVolumes(volumes: ReadonlyMap<string, VolumeReferences>): Steps {
    yield* eachInSteps(this.volumes.keys(), (name) => {
      if (!volumes.has(name)) this.deleteVolume(name);
    });
    yield* eachInSteps(volumes, ([name, references]) => this.setVolume(name, references));
  }

  /** Whether a pod of the node refers to the object directly, or through a claim whose volume does. */
  refersTo(node: string, key: string): boolean {
    const target = this.targets.get(key);
    if (target === undefined) return false;
    for (const { targets } of this.podsByNode.get(node) ?? []) {
      for (const own of targets) {
        if (own === target) return true;
        if (own.volumes === undefined) continue;
        for (const { secrets } of own.volumes) if (secrets.includes(target)) return true;
      }
    }
    return false;
  }

  /** Whether a pod of the node has a claim to the persistent volume. */
  usesVolume(node: string, name: string): boolean {
    const claim = this.volumes.get(name)?.claim;
    return claim !== undefined && this.refersTo(node, claim.key);
  }

  /** Whether the pod is on the node. */
  isPodOn(node: string, namespace: string, name: string): boolean {
    return this.pods.get(`${namespace}/${name}`)?.node === node;
  }

  /** The number of entries, so that tests can check that entries are removed. */
  get sizes(): { readonly pods: number; readonly nodes: number; readonly targets: number; readonly volumes: number } {
    const { pods, podsByNode, targets, volumes } = this;
    return { pods: pods.size, nodes: podsByNode.size, targets: targets.size, volumes: volumes.size };
  }

  private grown(): void {
    for (const listener of this.listeners) listener();
  }

  private dropPod(key: string, entry: PodEntry): void {
    this.pods.delete(key);
    const pods = this.podsByNode.get(entry.node);
    pods?.delete(entry);
    if (pods?.size === 0) this.podsByNode.delete(entry.node);
    for (const target of entry.targets) this.release(target);
  }

  private dropVolume(name: string, entry: VolumeEntry): void {
    this.volumes.delete(name);
    const { claim, secrets } = entry;
    claim.volumes?.delete(entry);
    if (claim.volumes?.size === 0) claim.volumes = undefined;
    this.release(claim);
    for (const target of secrets) this.release(target);
  }

  private use(key: string): Target {
    let target = this.targets.get(key);
    if (target === undefined) {
      target = new Target(key);
      this.targets.set(key, target);
    }
    target.uses++;
    return target;
  }

  private release(target: Target): void {
    if (--target.uses === 0) this.targets.delete(target.key);
  }
}

/** Most updates of a pod change only its status, which the graph does not contain. */
function isSame({ node, targets }: PodEntry, newNode: string, keys: readonly string[]): boolean {
  return node === newNode && targets.length === keys.length && targets.every(({ key }, i) => key === keys[i]);
}
