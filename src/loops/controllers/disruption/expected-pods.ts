import type { ApiObject, OwnerReference } from '../../../base/machinery/api-object.js';
import { parseApiVersion } from '../../../base/machinery/group-version.js';
import type { StatefulSet } from '../../../objects/apis/apps/v1/stateful-set.types.js';
import type { ReplicationController } from '../../../objects/apis/core/v1/replication-controller.types.js';
import type { Informer } from '../../../objects/registry/informers/informer.js';
import type { ResourceRegistry } from '../../../objects/registry/resource-registry.js';
import type { StoredDeployment, StoredReplicaSet } from '../deployment/deployment-annotations.js';
import { controllerOf, type StoredPod } from '../frame/indexes.js';
import type { LoopClient } from '../frame/loop-client.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';

/** Where the controllers of pods are found. */
export interface ControllerSources {
  readonly registry: ResourceRegistry;
  readonly client: LoopClient;
  readonly deployments: Informer<StoredDeployment>;
  readonly replicaSets: Informer<StoredReplicaSet>;
  readonly statefulSets: Informer<StatefulSet & ApiObject>;
  readonly replicationControllers: Informer<ReplicationController & ApiObject>;
}

/** The desired number of pods of the controllers of some pods. */
export interface Expected {
  readonly count: number;
  /** Names of the pods that nobody controls. */
  readonly unmanaged: readonly string[];
}

interface Wanted {
  readonly uid: string;
  readonly replicas: number;
}

/**
 * The total desired number of pods of the controllers of `pods`, each controller counted once.
 *
 * @throws Error when a controller is missing or does not specify a number
 */
export async function expectedPods(
  work: ReconcileContext,
  pods: readonly StoredPod[],
  sources: ControllerSources,
): Promise<Expected> {
  const byReference = new Map<string, Promise<Wanted | undefined>>();
  const wanted = new Map<string, number>();
  const unmanaged: string[] = [];
  for (const pod of pods) {
    const { name = '', namespace = '' } = pod.metadata;
    const owner = controllerOf(pod);
    if (owner === undefined) {
      unmanaged.push(name);
      continue;
    }
    let found = byReference.get(owner.uid);
    if (found === undefined) {
      found = wantedBy(work, namespace, owner, sources);
      byReference.set(owner.uid, found);
    }
    const controller = await found;
    if (controller === undefined) throw new Error(`found no controllers for pod ${JSON.stringify(name)}`);
    wanted.set(controller.uid, controller.replicas);
  }
  const count = [...wanted.values()].reduce((sum, replicas) => sum + replicas, 0);
  return { count, unmanaged };
}

async function wantedBy(
  work: ReconcileContext,
  namespace: string,
  owner: OwnerReference,
  sources: ControllerSources,
): Promise<Wanted | undefined> {
  return knownOwner(namespace, owner, sources) ?? (await scaledOwner(work, namespace, owner, sources));
}

/**
 * The desired number of pods of a built-in controller, from the cache. The replica sets of a deployment count as the
 * deployment.
 */
function knownOwner(namespace: string, owner: OwnerReference, sources: ControllerSources): Wanted | undefined {
  const group = parseApiVersion(owner.apiVersion)?.group;
  if (group === 'apps' && owner.kind === 'ReplicaSet') {
    const set = named(sources.replicaSets, namespace, owner);
    const above = set && controllerOf(set);
    const isDeployed = above?.kind === 'Deployment' && parseApiVersion(above.apiVersion)?.group === 'apps';
    return wantedOf(isDeployed ? named(sources.deployments, namespace, above) : undefined) ?? wantedOf(set);
  }
  if (group === 'apps' && owner.kind === 'StatefulSet') return wantedOf(named(sources.statefulSets, namespace, owner));
  if (group === '' && owner.kind === 'ReplicationController') {
    return wantedOf(named(sources.replicationControllers, namespace, owner));
  }
  return undefined;
}

function named<T extends ApiObject>(informer: Informer<T>, namespace: string, owner: OwnerReference): T | undefined {
  const found = informer.get(namespace, owner.name);
  return found?.metadata.uid === owner.uid ? found : undefined;
}

function wantedOf(object: (ApiObject & { spec: { replicas?: number } }) | undefined): Wanted | undefined {
  return object && { uid: object.metadata.uid ?? '', replicas: object.spec.replicas ?? 0 };
}

/** The desired number of pods of any other kind that can be scaled, custom ones included. */
async function scaledOwner(
  work: ReconcileContext,
  namespace: string,
  { apiVersion, kind, name, uid }: OwnerReference,
  { registry, client }: ControllerSources,
): Promise<Wanted | undefined> {
  const version = parseApiVersion(apiVersion);
  const served = version && registry.findKind(version.group, version.version, kind);
  if (served === undefined)
    throw new Error(`no matches for kind ${JSON.stringify(kind)} in version ${JSON.stringify(apiVersion)}`);
  const { group, resource } = served.definition;
  const scale = await client.of({ group, resource }).scale(work, namespace, name);
  if (scale === undefined || scale.metadata.uid !== uid) return undefined;
  return { uid, replicas: scale.spec.replicas ?? 0 };
}
