import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Informer } from '../../../objects/registry/informers/informer.js';
import type { StoredPod } from '../frame/indexes.js';
import type { DeepPartial, LoopClient, ResourceClient } from '../frame/loop-client.js';
import type { LoopEvents } from '../frame/loop-events.js';
import { plannedPod } from '../frame/pod-from-template.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import { isRace, keyOf } from '../frame/reconcile-loop.js';
import { errorMessage, isAlreadyExists, isNamespaceTerminating } from '../frame/refusals.js';
import { isStaleClaim, wantedOwners } from './claim-owners.js';
import { StaleClaim } from './stale-claim.js';
import { claimNames, claimsOf, ordinalOf, podName, type StoredClaim, type StoredStatefulSet } from './stateful-pods.js';

/** The loop's writes for a set, with the events about them. */
export class StatefulWrites {
  constructor(
    private readonly client: LoopClient,
    readonly claims: Informer<StoredClaim>,
    private readonly events: LoopEvents,
  ) {}

  /** Creates a pod after the claims that it lacks. */
  async create(
    work: ReconcileContext,
    set: StoredStatefulSet,
    make: () => DeepPartial<StoredPod>,
    ordinal: number,
  ): Promise<void> {
    const name = podName(set, ordinal);
    await this.createClaims(work, set, ordinal, false);
    try {
      await this.podClient.createFrom(work, plannedPod(set, set.spec.template), make);
      this.events.normal(set, 'SuccessfulCreate', `Create Pod ${name} in StatefulSet ${set.metadata.name} successful`);
    } catch (error) {
      this.sayFailed(set, 'FailedCreate', `Create Pod ${name}`, error);
      throw error;
    }
  }

  /** Deletes a pod. The claims to be deleted with it must have it as their owner by now; see {@link correct}. */
  async delete(work: ReconcileContext, set: StoredStatefulSet, pod: StoredPod): Promise<void> {
    const { name } = pod.metadata;
    try {
      const deleted = await this.podClient.delete(work, pod);
      if (!deleted) return;
      this.events.normal(set, 'SuccessfulDelete', `Delete Pod ${name} in StatefulSet ${set.metadata.name} successful`);
    } catch (error) {
      this.sayFailed(set, 'FailedDelete', `Delete Pod ${name}`, error);
      throw error;
    }
  }

  /**
   * Gives a pod the labels that identify it and its claims the owners that the retention policy requires. Deleted
   * claims of a pending pod are created again.
   */
  async correct(
    work: ReconcileContext,
    set: StoredStatefulSet,
    pod: StoredPod,
    labels: Readonly<Record<string, string>>,
  ): Promise<void> {
    const lacks = ({ metadata }: StoredPod) =>
      Object.keys(labels).some((key) => metadata.labels?.[key] !== labels[key]);
    if (lacks(pod) && pod.metadata.deletionTimestamp === undefined) {
      await this.podClient.update(work, pod, (live) => {
        if (!lacks(live)) return undefined;
        return { ...live, metadata: { ...live.metadata, labels: { ...live.metadata.labels, ...labels } } };
      });
    }
    const ordinal = ordinalOf(set, pod);
    if (ordinal === undefined || (set.spec.volumeClaimTemplates ?? []).length === 0) return;
    if (pod.status.phase === 'Pending' && pod.metadata.deletionTimestamp === undefined) {
      await this.createClaims(work, set, ordinal, true);
    }
    for (const name of claimNames(set, ordinal)) {
      const claim = this.claims.get(set.metadata.namespace ?? '', name);
      if (claim === undefined || wantedOwners(claim, set, pod) === undefined) continue;
      await this.claimClient.update(work, claim, (live) => {
        const ownerReferences = wantedOwners(live, set, pod);
        return ownerReferences && { ...live, metadata: { ...live.metadata, ownerReferences } };
      });
    }
  }

  /** @param isWaiting whether the pod exists already */
  private async createClaims(
    work: ReconcileContext,
    set: StoredStatefulSet,
    ordinal: number,
    isWaiting: boolean,
  ): Promise<void> {
    const name = podName(set, ordinal);
    for (const claim of claimsOf(set, ordinal)) {
      const known = this.claims.get(claim.metadata.namespace ?? '', claim.metadata.name ?? '');
      if (known !== undefined) {
        // The claim exists, and the kubelet starts the existing pod once it can use the claim.
        if (isWaiting) continue;
        if (isStaleClaim(known, name)) throw new StaleClaim(`${keyOf(known)} goes with a former pod`);
        if (known.metadata.deletionTimestamp === undefined) continue;
        const error = new Error(`pvc ${claim.metadata.name} is being deleted`);
        this.sayFailed(set, 'FailedCreate', `Create Claim ${claim.metadata.name} for Pod ${name}`, error);
        throw error;
      }
      try {
        const ownerReferences = this.firstOwners(claim, set, ordinal);
        await this.claimClient.create(work, {
          ...claim,
          metadata: { ...claim.metadata, ...(ownerReferences === undefined ? {} : { ownerReferences }) },
        });
        const text = `Create Claim ${claim.metadata.name} Pod ${name} in StatefulSet ${set.metadata.name} success`;
        this.events.normal(set, 'SuccessfulCreate', text);
      } catch (error) {
        if (isAlreadyExists(error)) throw error;
        this.sayFailed(set, 'FailedCreate', `Create Claim ${claim.metadata.name} for Pod ${name}`, error);
        throw error;
      }
    }
  }

  /** The owners of a new claim: the set, when its claims are deleted with it. */
  private firstOwners(claim: ApiObject, set: StoredStatefulSet, ordinal: number) {
    const pod = { metadata: { name: podName(set, ordinal) } } as StoredPod;
    return wantedOwners(claim as StoredClaim, set, pod);
  }

  private sayFailed(set: StoredStatefulSet, reason: string, what: string, error: unknown): void {
    // An object of that name may belong to somebody else, which only the event reports.
    if (isNamespaceTerminating(error) || (isRace(error) && !isAlreadyExists(error))) return;
    const { name } = set.metadata;
    this.events.warning(set, reason, `${what} in StatefulSet ${name} failed error: ${errorMessage(error)}`);
  }

  private get podClient(): ResourceClient<StoredPod> {
    return this.client.of<StoredPod>({ group: '', resource: 'pods' });
  }

  private get claimClient(): ResourceClient<StoredClaim> {
    return this.client.of<StoredClaim>({ group: '', resource: 'persistentvolumeclaims' });
  }
}
