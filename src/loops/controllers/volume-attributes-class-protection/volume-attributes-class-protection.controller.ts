import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { VolumeAttributesClass } from '../../../objects/apis/storage/v1/volume-attributes-class.types.js';
import type { StoredVolume } from '../attach-detach/attachable-volume.js';
import type { StoredClaim } from '../ephemeral-volume/ephemeral-claims.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import { ownKey, ReconcileLoop, type Source, source } from '../frame/reconcile-loop.js';
import type { WorkOutcome } from '../work-queue.js';

type StoredClass = VolumeAttributesClass & ApiObject;

/** The classes that a claim asks for, has, or is being changed to. */
function classesOfClaim({ spec, status }: Readonly<StoredClaim>): readonly string[] {
  const names = [
    spec.volumeAttributesClassName,
    status?.currentVolumeAttributesClassName,
    status?.modifyVolumeStatus?.targetVolumeAttributesClassName,
  ];
  return [...new Set(names.filter((name) => name !== undefined && name !== ''))] as string[];
}

function classesOfVolume({ spec }: Readonly<StoredVolume>): readonly string[] {
  return spec.volumeAttributesClassName ? [spec.volumeAttributesClassName] : [];
}

/**
 * Keeps each VolumeAttributesClass until no claim and no volume names it: it puts a finalizer on every class, and
 * removes it from those that are being deleted and not in use.
 */
export class VolumeAttributesClassProtectionController extends ReconcileLoop {
  readonly name = 'volumeattributesclass-protection-controller';
  private readonly classes = this.informer<StoredClass>('storage', 'volumeattributesclasses');
  private readonly claims = this.informer<StoredClaim>('', 'persistentvolumeclaims');
  private readonly volumes = this.informer<StoredVolume>('', 'persistentvolumes');
  private readonly claimsOf = this.claims.index('attributes classes', classesOfClaim);
  private readonly volumesOf = this.volumes.index('attributes classes', classesOfVolume);
  private readonly finalizer = `${this.dependencies.names.labelPrefix}/vac-protection`;

  protected override get queueName(): string {
    return 'vac_protection';
  }

  protected sources(): readonly Source[] {
    const freed = <T>(classesOf: (object: T) => readonly string[]) => {
      return (object: T | undefined, old: T | undefined) => {
        const now = object === undefined ? [] : classesOf(object);
        return old === undefined ? [] : classesOf(old).filter((name) => !now.includes(name));
      };
    };
    return [
      source(this.claims, freed(classesOfClaim)),
      source(this.volumes, freed(classesOfVolume)),
      source(this.classes, (object) => (object === undefined ? [] : ownKey(object, undefined))),
    ];
  }

  protected async reconcile(name: string, work: ReconcileContext): Promise<WorkOutcome> {
    const object = this.classes.get('', name);
    if (object === undefined || !this.isDue(object)) return 'done';
    if (object.metadata.deletionTimestamp !== undefined) {
      // Any user that began to use the class before its deletion must be known.
      const head = await this.dependencies.storage.head();
      await Promise.all([this.claims.reached(head), this.volumes.reached(head)]);
      if (this.isInUse(name)) return 'done';
    }
    await this.client<StoredClass>('storage', 'volumeattributesclasses').update(work, object, (live) => {
      if (!this.isDue(live)) return undefined;
      const { finalizers = [], deletionTimestamp } = live.metadata;
      if (deletionTimestamp === undefined) live.metadata.finalizers = [...finalizers, this.finalizer];
      else if (this.isInUse(name)) return undefined;
      else live.metadata.finalizers = finalizers.filter((entry) => entry !== this.finalizer);
      return live;
    });
    return 'done';
  }

  /** Whether the finalizer is missing, or has to be removed once the class is free. */
  private isDue({ metadata }: Readonly<StoredClass>): boolean {
    const isHeld = metadata.finalizers?.includes(this.finalizer) === true;
    return isHeld === (metadata.deletionTimestamp !== undefined);
  }

  private isInUse(name: string): boolean {
    return this.claimsOf.get(name).size > 0 || this.volumesOf.get(name).size > 0;
  }
}
