import type { ApiObject } from '../../base/machinery/api-object.js';
import { groupName, type VendorNames } from '../../base/machinery/vendor.js';
import type { PersistentVolume } from '../../objects/apis/core/v1/persistent-volume.types.js';
import type { PersistentVolumeClaim } from '../../objects/apis/core/v1/persistent-volume-claim.types.js';
import type { Pod } from '../../objects/apis/core/v1/pod.types.js';
import { csiUniqueName } from '../../objects/apis/storage/csi-names.js';
import type { CSIDriver } from '../../objects/apis/storage/v1/csi-driver.types.js';
import type { ApiUser } from '../connection/api-connection.js';
import { ApiError } from '../connection/api-error.js';
import { simulatedDriver } from './volume-object.js';

/** Determines, as a node would, which volumes of its pods need attaching. */
export class AttachedVolumes {
  constructor(
    private readonly api: ApiUser,
    private readonly names: VendorNames,
  ) {}

  /**
   * The names, as in the status of nodes, of the volumes that have to be attached before the pod starts; undefined while
   * a claim is not bound or something else is missing.
   *
   * @throws ApiError when the API does not answer
   */
  async neededBy({ metadata, spec }: Pod, signal: AbortSignal): Promise<readonly string[] | undefined> {
    const needed: string[] = [];
    for (const { name, persistentVolumeClaim, ephemeral } of spec.volumes ?? []) {
      const claimName = persistentVolumeClaim?.claimName ?? (ephemeral && `${metadata.name}-${name}`);
      if (claimName === undefined) continue;
      const path = `/api/v1/namespaces/${metadata.namespace}/persistentvolumeclaims/${encodeURIComponent(claimName)}`;
      const claim = await this.find<PersistentVolumeClaim & ApiObject>(path, signal);
      const volumeName = claim?.status?.phase === 'Bound' ? claim.spec.volumeName : undefined;
      if (!volumeName) return undefined;
      const volume = await this.find<PersistentVolume & ApiObject>(`/api/v1/persistentvolumes/${volumeName}`, signal);
      if (volume === undefined) return undefined;
      const attached = await this.nameOf(volume, signal);
      if (attached !== undefined) needed.push(attached);
    }
    return needed;
  }

  private async nameOf({ spec: { csi } }: PersistentVolume, signal: AbortSignal): Promise<string | undefined> {
    // Volumes of the simulated driver need no attaching.
    if (!csi || csi.driver === simulatedDriver) return undefined;
    const path = `/apis/${groupName('storage', this.names)}/v1/csidrivers/${csi.driver}`;
    const driver = await this.find<CSIDriver & ApiObject>(path, signal);
    if (driver?.spec.attachRequired === false) return undefined;
    return csiUniqueName({ driver: csi.driver, handle: csi.volumeHandle }, this.names.labelPrefix);
  }

  private async find<T extends object>(path: string, signal: AbortSignal): Promise<T | undefined> {
    try {
      return await this.api.send<T>('GET', path, { signal });
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  }
}

/** Whether a pod has volumes that may have to be attached. */
export function hasClaims({ spec }: Pod): boolean {
  return (spec.volumes ?? []).some(
    ({ persistentVolumeClaim, ephemeral }) => persistentVolumeClaim != null || ephemeral != null,
  );
}
