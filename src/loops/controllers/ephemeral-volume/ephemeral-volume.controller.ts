import type { Volume } from '../../../objects/apis/core/v1/volume.types.js';
import type { StoredPod } from '../frame/indexes.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import {
  keyOf,
  type ReconcileDependencies,
  ReconcileLoop,
  type Source,
  source,
  splitKey,
} from '../frame/reconcile-loop.js';
import { errorMessage, isAlreadyExists, isNamespaceTerminating } from '../frame/refusals.js';
import type { VolumeLoopMetrics } from '../volume-loop-metrics.js';
import type { WorkOutcome } from '../work-queue.js';
import {
  claimFor,
  ephemeralClaimName,
  ephemeralVolumes,
  foreignClaimProblem,
  type StoredClaim,
} from './ephemeral-claims.js';

export interface EphemeralVolumeDependencies extends ReconcileDependencies {
  readonly counters?: VolumeLoopMetrics | undefined;
}

/** A claim of this name exists and is not the pod's: only somebody else can change that. */
class ForeignClaim extends Error {}

/**
 * Makes the claims of generic ephemeral volumes. A pod with such a volume is neither placed nor started before its
 * claim exists. A claim that is deleted while its pod stays is recreated; the garbage collector deletes those of
 * deleted pods.
 */
export class EphemeralVolumeController extends ReconcileLoop {
  readonly name = 'ephemeral-volume-controller';
  private readonly pods = this.informer<StoredPod>('', 'pods');
  private readonly claims = this.informer<StoredClaim>('', 'persistentvolumeclaims');
  /** Pods by the claims, as `<namespace>/<name>`, of their ephemeral volumes. */
  private readonly podsByClaim = this.pods.index('ephemeral claims', (pod) =>
    ephemeralVolumes(pod).map((volume) => `${pod.metadata.namespace}/${ephemeralClaimName(pod, volume)}`),
  );

  constructor(private readonly own: EphemeralVolumeDependencies) {
    super(own);
  }

  protected override get component(): string {
    return 'ephemeral_volume';
  }

  protected override get queueName(): string {
    return 'ephemeral_volume';
  }

  protected sources(): readonly Source[] {
    return [
      source(this.pods, (pod, old) => {
        // The volumes of a pod never change. A pod that replaces another one of the same name is new.
        const isNew = pod !== undefined && pod.metadata.uid !== old?.metadata.uid;
        return isNew && ephemeralVolumes(pod).length > 0 ? [keyOf(pod)] : [];
      }),
      source(this.claims, (claim, old) => {
        if (old === undefined || claim?.metadata.uid === old.metadata.uid) return [];
        return [...this.podsByClaim.get(keyOf(old))].map(keyOf);
      }),
    ];
  }

  protected async reconcile(key: string, work: ReconcileContext): Promise<WorkOutcome> {
    const { namespace, name } = splitKey(key);
    const pod = this.pods.get(namespace, name);
    if (pod === undefined || pod.metadata.deletionTimestamp !== undefined) return 'done';
    for (const volume of ephemeralVolumes(pod)) {
      try {
        await this.ensureClaim(pod, volume, work);
      } catch (error) {
        if (isNamespaceTerminating(error)) return 'done';
        // Another writer was faster: the next check of the informers shows its write.
        if (isAlreadyExists(error)) return 'later';
        this.events.warning(
          pod,
          'FailedBinding',
          `ephemeral volume ${volume.name}: ${this.textOf(pod, volume, error)}`,
        );
        if (error instanceof ForeignClaim) return 'later';
        throw error;
      }
    }
    return 'done';
  }

  private textOf(pod: StoredPod, volume: Volume, error: unknown): string {
    if (error instanceof ForeignClaim) return error.message;
    return `create PVC ${ephemeralClaimName(pod, volume)}: ${errorMessage(error)}`;
  }

  private async ensureClaim(pod: StoredPod, volume: Volume, work: ReconcileContext): Promise<void> {
    const claim = this.claims.get(pod.metadata.namespace ?? '', ephemeralClaimName(pod, volume));
    if (claim !== undefined) {
      const problem = foreignClaimProblem(pod, claim);
      if (problem !== undefined) throw new ForeignClaim(problem);
      return;
    }
    const { counters } = this.own;
    counters?.claimCreations.inc();
    try {
      await this.client<StoredClaim>('', 'persistentvolumeclaims').create(work, claimFor(pod, volume));
    } catch (error) {
      counters?.claimFailures.inc();
      throw error;
    }
  }
}
