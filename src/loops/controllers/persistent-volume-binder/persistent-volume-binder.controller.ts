import { formatTime } from '../../../base/machinery/clock.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import { type VolumeAnnotations, volumeAnnotations } from '../../../base/machinery/volume-annotations.js';
import type { StoredClaim, StoredVolume } from '../../scheduler/volumes.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import {
  keyOf,
  type ReconcileDependencies,
  ReconcileLoop,
  type Source,
  source,
  splitKey,
} from '../frame/reconcile-loop.js';
import type { WorkOutcome } from '../work-queue.js';
import { boundClaim, boundVolume, claimStatus, unboundVolume, type VolumePhase, volumeStatus } from './bound-state.js';
import {
  chooseVolume,
  classOf,
  differsInMode,
  isAvailable,
  isMeantFor,
  mayHave,
  mismatch,
  reservedMs,
} from './match-volume.js';
import { defaultClass, provisionerOf, type StoredClass } from './provisioning.js';
import { reclaimFailure } from './reclaim.js';
import { Taken } from './taken.js';

/** The state of a claim that lost its volume, which is final. */
const lost = {
  reference: 'Bound claim has lost reference to PersistentVolume. Data on the volume is lost!',
  volume: 'Bound claim has lost its PersistentVolume. Data on the volume is lost!',
  misbound: 'Two claims are bound to the same volume, this one is bound incorrectly',
} as const;

/**
 * Brings claims and volumes together, one to one. Keys with a slash are claims, the others are volumes.
 *
 * A binding is four writes, each of which may be the last one of a process: the volume names the claim, the volume is
 * `Bound`, the claim names the volume, the claim is `Bound`. A successor finds the volume that names the claim. The
 * first write decides a race for a volume, the third a race for a claim.
 */
export class PersistentVolumeBinderController extends ReconcileLoop {
  readonly name = 'persistent-volume-binder';
  private readonly claims = this.informer<StoredClaim>('', 'persistentvolumeclaims');
  private readonly volumes = this.informer<StoredVolume>('', 'persistentvolumes');
  private readonly classes = this.informer<StoredClass>('storage', 'storageclasses');
  private readonly annotations: VolumeAnnotations;
  private readonly volumesByClaim = this.volumes.index('claim', ({ spec: { claimRef } }) =>
    claimRef === undefined ? [] : [`${claimRef.namespace ?? ''}/${claimRef.name ?? ''}`],
  );
  private readonly claimsByVolume = this.claims.index('volume', ({ spec }) =>
    spec.volumeName ? [spec.volumeName] : [],
  );
  private readonly unclaimed;
  private readonly waiting;
  /** Volumes that this process has chosen for claims, until the informers show them as bound. */
  private readonly chosen = new Map<string, string>();

  constructor(dependencies: ReconcileDependencies) {
    super(dependencies);
    const annotations = volumeAnnotations(dependencies.names);
    this.annotations = annotations;
    this.unclaimed = this.volumes.index('unclaimed volumes by class', (volume) =>
      volume.spec.claimRef === undefined ? [classOf(volume, annotations.storageClass)] : [],
    );
    this.waiting = this.claims.index('claims without a volume by class', (claim) =>
      claim.spec.volumeName ? [] : [classOf(claim, annotations.storageClass)],
    );
  }

  protected override get component(): string {
    return 'persistentvolume-controller';
  }

  protected sources(): readonly Source[] {
    this.chosen.clear();
    return [
      source(this.claims, (claim, old) => this.ofClaim(claim, old)),
      source(this.volumes, (volume, old) => this.ofVolume(volume, old)),
      source(this.classes, (storageClass, old) => this.ofClass(storageClass ?? old)),
    ];
  }

  private *ofClaim(claim: StoredClaim | undefined, old: StoredClaim | undefined): Generator<string> {
    const key = keyOf((claim ?? old) as StoredClaim);
    yield key;
    for (const volume of this.volumesByClaim.get(key)) yield keyOf(volume);
    const { volumeName } = ((claim ?? old) as StoredClaim).spec;
    if (volumeName) yield volumeName;
  }

  private *ofVolume(volume: StoredVolume | undefined, old: StoredVolume | undefined): Generator<string> {
    const name = (volume ?? old)?.metadata.name as string;
    if (volume !== undefined) yield name;
    if (volume?.spec.claimRef !== undefined || volume === undefined) this.chosen.delete(name);
    for (const { spec } of [volume, old].filter((one) => one !== undefined)) {
      const { claimRef } = spec;
      if (claimRef !== undefined) yield `${claimRef.namespace ?? ''}/${claimRef.name ?? ''}`;
    }
    for (const claim of this.claimsByVolume.get(name)) yield keyOf(claim);
    if (volume === undefined || !isAvailable(volume) || (old !== undefined && isSameOffer(volume, old))) return;
    yield* this.waitingFor(volume);
  }

  /** Claims that could have the volume. */
  private *waitingFor(volume: StoredVolume): Generator<string> {
    for (const claim of this.waiting.get(classOf(volume, this.annotations.storageClass))) {
      if (mayHave(claim, volume)) yield keyOf(claim);
    }
  }

  private *ofClass(storageClass: StoredClass | undefined): Generator<string> {
    for (const name of [storageClass?.metadata.name ?? '', '']) {
      for (const claim of this.waiting.get(name)) yield keyOf(claim);
    }
  }

  protected async reconcile(key: string, work: ReconcileContext): Promise<WorkOutcome> {
    const { namespace, name } = splitKey(key);
    try {
      if (namespace === '') {
        const volume = this.volumes.get('', name);
        if (volume !== undefined) await this.syncVolume(volume, work);
        return 'done';
      }
      const claim = this.claims.get(namespace, name);
      if (claim === undefined) return 'done';
      if (claim.metadata.annotations?.[this.annotations.bindCompleted] !== undefined) await this.syncBound(claim, work);
      else if (claim.spec.volumeName) await this.syncNamed(claim, claim.spec.volumeName, work);
      else return await this.syncUnbound(claim, work);
      return 'done';
    } catch (error) {
      if (error instanceof Taken) return 'later';
      throw error;
    }
  }

  /** Syncs a claim whose binding was once complete. */
  private async syncBound(claim: StoredClaim, work: ReconcileContext): Promise<void> {
    const { volumeName } = claim.spec;
    if (!volumeName) return this.lose(claim, 'ClaimLost', lost.reference, work);
    const volumes = this.client<StoredVolume>('', 'persistentvolumes');
    const isRight = (volume: StoredVolume) => volume.spec.claimRef === undefined || isMeantFor(volume, claim);
    let volume = this.volumes.get('', volumeName);
    // A claim that lost its volume never gets it back, so a lag of an informer must not look like a loss.
    if (volume === undefined || !isRight(volume)) volume = await volumes.get('', volumeName);
    if (volume === undefined) return this.lose(claim, 'ClaimLost', lost.volume, work);
    if (isRight(volume)) return this.bind(claim, volume, work);
    return this.lose(claim, 'ClaimMisbound', lost.misbound, work);
  }

  /** Syncs a claim that asks for a volume by name. */
  private async syncNamed(claim: StoredClaim, volumeName: string, work: ReconcileContext): Promise<void> {
    const volume = this.volumes.get('', volumeName);
    if (volume === undefined) return this.pend(claim, work);
    if (isMeantFor(volume, claim)) return this.bind(claim, volume, work);
    if (volume.spec.claimRef !== undefined) {
      this.events.warning(claim, 'FailedBinding', `volume "${volumeName}" already bound to a different claim.`);
      return this.pend(claim, work);
    }
    const problem = mismatch(claim, volume, this.annotations.storageClass);
    if (problem === undefined) return this.bind(claim, volume, work);
    this.events.warning(claim, 'VolumeMismatch', `Cannot bind to requested volume "${volumeName}": ${problem}`);
    return this.pend(claim, work);
  }

  /** Syncs a claim that takes any suitable volume. */
  private async syncUnbound(claim: StoredClaim, work: ReconcileContext): Promise<WorkOutcome> {
    if (claim.metadata.deletionTimestamp !== undefined) return 'done';
    const className = classOf(claim, this.annotations.storageClass);
    const storageClass = this.classes.get('', className);
    const isEarly =
      storageClass?.volumeBindingMode === 'WaitForFirstConsumer' &&
      claim.metadata.annotations?.[this.annotations.selectedNode] === undefined;
    const key = keyOf(claim);
    const isReserved = (candidate: StoredVolume) => reservedMs(candidate, claim, work.now) > 0;
    const ofClass = isEarly ? [] : this.freeOf(className, key, (candidate) => !isReserved(candidate));
    const volume = chooseVolume(claim, { meant: this.volumesByClaim.get(key), ofClass });
    if (volume === undefined && !isEarly) {
      const next = chooseVolume(claim, { meant: [], ofClass: this.freeOf(className, key, isReserved) });
      if (next !== undefined) {
        await this.pend(claim, work);
        return reservedMs(next, claim, work.now);
      }
    }
    if (volume !== undefined) {
      const name = keyOf(volume);
      this.chosen.set(name, key);
      try {
        await this.bind(claim, volume, work);
        return 'done';
      } catch (error) {
        if (this.chosen.get(name) === key) this.chosen.delete(name);
        // Other claims may have skipped the volume.
        if (!(error instanceof Taken)) for (const other of this.waitingFor(volume)) this.enqueue(other);
        throw error;
      }
    }
    if (await this.giveDefaultClass(claim, work)) return 'done';
    if (isEarly) {
      const message = 'waiting for first consumer to be created before binding';
      this.events.normal(claim, 'WaitForFirstConsumer', message);
    } else if (className === '') {
      const message = 'no persistent volumes available for this claim and no storage class is set';
      this.events.normal(claim, 'FailedBinding', message);
    } else await this.askFor(claim, className, storageClass, work);
    await this.pend(claim, work);
    return 'done';
  }

  /** Volumes of a class that fit a condition and that no other claim has chosen. */
  private *freeOf(
    className: string,
    claimKey: string,
    fits: (volume: StoredVolume) => boolean,
  ): Generator<StoredVolume> {
    for (const volume of this.unclaimed.get(className)) {
      const by = this.chosen.get(keyOf(volume));
      if ((by === undefined || by === claimKey) && fits(volume)) yield volume;
    }
  }

  /** Gives a claim that was made before there was a default class that class. */
  private async giveDefaultClass(claim: StoredClaim, work: ReconcileContext): Promise<boolean> {
    const isOpen = ({ metadata, spec }: StoredClaim) =>
      spec.storageClassName === undefined && metadata.annotations?.[this.annotations.storageClass] === undefined;
    const name = isOpen(claim) ? defaultClass(this.classes.all(), this.annotations)?.metadata.name : undefined;
    if (name === undefined) return false;
    const given = await this.client<StoredClaim>('', 'persistentvolumeclaims').update(work, claim, (live) => {
      if (!isOpen(live) || live.spec.volumeName) return undefined;
      live.spec.storageClassName = name;
      return live;
    });
    return given !== undefined;
  }

  /** Records which provisioner has to make a volume for a claim. */
  private async askFor(
    claim: StoredClaim,
    className: string,
    storageClass: StoredClass | undefined,
    work: ReconcileContext,
  ): Promise<void> {
    const provisioner = provisionerOf(className, storageClass, this.dependencies.names);
    if (provisioner.kind === 'none') {
      this.events.warning(claim, 'ProvisioningFailed', provisioner.message);
      return;
    }
    const { provisioners } = this.annotations;
    const isAsked = ({ metadata }: StoredClaim) =>
      provisioners.every((key) => metadata.annotations?.[key] === provisioner.name);
    if (!isAsked(claim)) {
      await this.client<StoredClaim>('', 'persistentvolumeclaims').update(work, claim, (live) => {
        if (isAsked(live) || live.spec.volumeName) return undefined;
        const asked = Object.fromEntries(provisioners.map((key) => [key, provisioner.name]));
        live.metadata.annotations = { ...live.metadata.annotations, ...asked };
        return live;
      });
    }
    const text =
      `Waiting for a volume to be created either by the external provisioner '${provisioner.name}' or manually by the ` +
      'system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly ' +
      'registered.';
    this.events.normal(claim, 'ExternalProvisioning', text);
  }

  private async bind(claim: StoredClaim, volume: StoredVolume, work: ReconcileContext): Promise<void> {
    const { annotations } = this;
    const volumes = this.client<StoredVolume>('', 'persistentvolumes');
    const claims = this.client<StoredClaim>('', 'persistentvolumeclaims');
    let ours = volume;
    if (volume.spec.claimRef?.uid !== claim.metadata.uid) {
      const written = await volumes.update(work, volume, (live) => boundVolume(live, claim, annotations));
      const live = written ?? (await volumes.get('', keyOf(volume)));
      if (live === undefined || live.spec.claimRef?.uid !== claim.metadata.uid) throw new Taken();
      ours = live;
    }
    await this.writePhase(ours, 'Bound', work);
    const name = volume.metadata.name as string;
    const isDone =
      claim.spec.volumeName === name && claim.metadata.annotations?.[annotations.bindCompleted] !== undefined;
    if (!isDone) await claims.update(work, claim, (live) => boundClaim(live, name, annotations));
    await this.writeClaim(claim, 'Bound', work, ours);
  }

  private pend(claim: StoredClaim, work: ReconcileContext): Promise<void> {
    return this.writeClaim(claim, 'Pending', work);
  }

  private async lose(claim: StoredClaim, reason: string, message: string, work: ReconcileContext): Promise<void> {
    if (claim.status.phase === 'Lost') return;
    await this.writeClaim(claim, 'Lost', work);
    this.events.warning(claim, reason, message);
  }

  private async writeClaim(
    claim: StoredClaim,
    phase: 'Pending' | 'Bound' | 'Lost',
    work: ReconcileContext,
    volume?: StoredVolume,
  ): Promise<void> {
    if (deepEqual(claimStatus(claim.status, phase, volume), claim.status)) return;
    await this.client<StoredClaim>('', 'persistentvolumeclaims').updateStatus(work, claim, (live) => {
      // The inputs of the decision have changed: the next run decides again.
      if ((live.spec.volumeName ?? '') !== (volume?.metadata.name ?? claim.spec.volumeName ?? '')) return undefined;
      const status = claimStatus(live.status, phase, volume);
      if (deepEqual(status, live.status)) return undefined;
      live.status = status;
      return live;
    });
  }

  private async syncVolume(volume: StoredVolume, work: ReconcileContext): Promise<void> {
    const { claimRef } = volume.spec;
    if (!claimRef?.uid) {
      await this.writePhase(volume, 'Available', work);
      return;
    }
    const claim = await this.claimOf(volume);
    if (claim === undefined) return this.release(volume, work);
    const { name = '' } = volume.metadata;
    if (!claim.spec.volumeName) {
      if (differsInMode(claim, volume)) this.recordModeMismatch(claim, volume);
      else this.enqueue(keyOf(claim));
    } else if (claim.spec.volumeName === name) await this.writePhase(volume, 'Bound', work);
    else if (this.isMadeToGo(volume)) await this.release(volume, work);
    else {
      const { annotations } = this;
      const freed = await this.client<StoredVolume>('', 'persistentvolumes').update(work, volume, (live) =>
        live.spec.claimRef?.uid === claimRef.uid ? unboundVolume(live, annotations) : undefined,
      );
      if (freed !== undefined) await this.writePhase(freed, 'Available', work);
    }
  }

  private recordModeMismatch(claim: StoredClaim, volume: StoredVolume): void {
    const [of, other] = ['Cannot bind PersistentVolume', 'due to incompatible volumeMode.'];
    const { name } = claim.metadata;
    this.events.warning(volume, 'VolumeMismatch', `${of} to requested PersistentVolumeClaim "${name}" ${other}`);
    const volumeName = volume.metadata.name;
    this.events.warning(claim, 'VolumeMismatch', `${of} "${volumeName}" to requested PersistentVolumeClaim ${other}`);
  }

  /** Whether the volume was made for one claim and is deleted with it. */
  private isMadeToGo({ metadata, spec }: StoredVolume): boolean {
    return (
      metadata.annotations?.[this.annotations.provisionedBy] !== undefined &&
      spec.persistentVolumeReclaimPolicy === 'Delete'
    );
  }

  /** The claim that the volume names by its uid; undefined when that claim is certainly gone. */
  private async claimOf({ spec }: StoredVolume): Promise<StoredClaim | undefined> {
    const { namespace = '', name = '', uid } = spec.claimRef ?? {};
    const known = this.claims.get(namespace, name);
    if (known?.metadata.uid === uid) return known;
    const live = await this.client<StoredClaim>('', 'persistentvolumeclaims').get(namespace, name);
    return live?.metadata.uid === uid ? live : undefined;
  }

  /** The claim is gone: the reclaim policy decides about the volume. */
  private async release(volume: StoredVolume, work: ReconcileContext): Promise<void> {
    if (volume.status.phase === 'Failed') return;
    const released = await this.writePhase(volume, 'Released', work);
    const failure = reclaimFailure(released, this.annotations, this.dependencies.names.labelPrefix);
    if (failure === undefined) return;
    await this.writePhase(released, 'Failed', work, failure.message);
    this.events.warning(released, failure.reason, failure.message);
  }

  /** Resolves with the volume as it is now. */
  private async writePhase(
    volume: StoredVolume,
    phase: VolumePhase,
    work: ReconcileContext,
    message?: string,
  ): Promise<StoredVolume> {
    if (volume.status.phase === phase) return volume;
    const now = formatTime(work.now);
    const written = await this.client<StoredVolume>('', 'persistentvolumes').updateStatus(work, volume, (live) => {
      const isOther = (live.spec.claimRef?.uid ?? '') !== (volume.spec.claimRef?.uid ?? '');
      if (isOther || live.status.phase === phase) return undefined;
      live.status = volumeStatus(phase, now, message);
      return live;
    });
    return written ?? volume;
  }
}

/** Whether claims that could not have the volume before still can't have it. */
function isSameOffer(volume: StoredVolume, old: StoredVolume): boolean {
  return (
    isAvailable(old) &&
    deepEqual(volume.spec, old.spec) &&
    deepEqual(volume.metadata.labels, old.metadata.labels) &&
    deepEqual(volume.metadata.annotations, old.metadata.annotations)
  );
}
