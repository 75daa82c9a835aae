import type { ApiObject } from '../../../base/machinery/api-object.js';
import { formatTime } from '../../../base/machinery/clock.js';
import { cloneJson } from '../../../base/machinery/json/exact-numbers.js';
import { StatusError } from '../../../base/machinery/status-error.js';
import { groupName } from '../../../base/machinery/vendor.js';
import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import type { AllocationResult } from '../../../objects/apis/resource/v1/resource-claim.types.js';
import { bindingState, longestBindingMs } from '../../scheduler/devices/binding-state.js';
import type { StoredDeviceClaim } from '../../scheduler/devices/device-objects.js';
import { isReservedFor } from '../../scheduler/devices/pod-device-claims.js';
import type { DevicePlan, PlannedExtension } from '../../scheduler/devices/pod-devices.js';
import type { PodInfo } from '../../scheduler/pod-info.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import type { ReconcileDependencies } from '../frame/reconcile-loop.js';
import type { InformedDevices } from './informed-devices.js';

type StoredPod = Pod & ApiObject;

/** A claim can't be used any more, and the pod has to be placed again. */
class ClaimLost extends Error {}

/** The dependencies of the device writer, which are parts of the pod writer. */
export interface DeviceWriterDependencies extends Pick<ReconcileDependencies, 'client' | 'names' | 'timers'> {
  /** The context of one write. */
  readonly work: (signal: AbortSignal) => ReconcileContext;
}

/**
 * Writes the devices of pods into their claims before the pods are bound: first the allocation and the pod as a user,
 * both in one write. No pod is bound whose devices somebody else allocated at the same time.
 */
export class DeviceWriter {
  private readonly finalizer: string;
  private readonly annotation: string;
  /** The claims made for the extended resources of pods. */
  private readonly extensions = new WeakMap<DevicePlan, StoredDeviceClaim>();

  constructor(
    private readonly dependencies: DeviceWriterDependencies,
    private readonly devices: InformedDevices,
  ) {
    const prefix = `resource.${dependencies.names.labelPrefix}`;
    this.finalizer = `${prefix}/delete-protection`;
    this.annotation = `${prefix}/extended-resource-claim`;
  }

  /** Counts the devices of a plan as used from now on; the returned function frees those that were not written. */
  reserve({ claims }: DevicePlan): () => void {
    const planned = claims.flatMap(({ claim, allocation }) => {
      const { uid } = claim.metadata;
      return allocation === undefined || uid === undefined ? [] : [{ uid, allocation }];
    });
    for (const { uid, allocation } of planned) this.devices.expect(uid, allocation);
    return () => {
      for (const { uid } of planned) this.devices.abandon(uid);
    };
  }

  /**
   * Allocates and reserves the claims of a pod, and waits until the devices are prepared. Throws when that does not
   * succeed; {@link release} then frees what was reserved.
   *
   * @param onWait called when the pod waits for its devices
   */
  async prepare(info: PodInfo, plan: DevicePlan, signal: AbortSignal, onWait: () => void): Promise<void> {
    const claims: StoredDeviceClaim[] = [];
    for (const { claim, allocation } of plan.claims) {
      if (allocation === undefined) await this.giveUpContested(info, claim, signal);
      if (isReservedFor(claim, info.uid)) claims.push(claim);
      else claims.push(await this.bindClaim(info, claim, allocation, signal));
    }
    if (plan.extension !== undefined) claims.push(await this.extend(info, plan, plan.extension, signal));
    if (claims.every((claim) => bindingState(claim).state === 'ready')) return;
    onWait();
    await this.prepared(claims, signal);
  }

  /** Removes a pod that was not bound from its claims; deletes the claim made for its extended resources. */
  async release({ uid }: PodInfo, plan: DevicePlan, signal: AbortSignal): Promise<void> {
    for (const { claim } of plan.claims) {
      await this.client.updateStatus(this.work(signal), claim, (live) => {
        const { reservedFor = [] } = live.status;
        const users = reservedFor.filter((user) => user.uid !== uid);
        if (users.length === reservedFor.length) return undefined;
        if (users.length === 0) delete live.status.reservedFor;
        else live.status.reservedFor = users;
        return live;
      });
    }
    const made = this.extensions.get(plan);
    if (made !== undefined) await this.remove(made, signal);
  }

  /** Frees the devices of a claim that keep a pod from every node. */
  async free(claim: StoredDeviceClaim, podUid: string, signal: AbortSignal): Promise<void> {
    await this.client.updateStatus(this.work(signal), claim, (live) => {
      const isOthers = (live.status.reservedFor ?? []).some(({ uid }) => uid !== podUid);
      if (live.status.allocation === undefined || isOthers) return undefined;
      live.status = {};
      return live;
    });
  }

  /** Deletes the claim for extended resources of an attempt that did not succeed. */
  async remove(claim: StoredDeviceClaim, signal: AbortSignal): Promise<void> {
    await this.client.update(this.work(signal), claim, (live) => {
      const { finalizers = [] } = live.metadata;
      if (!finalizers.includes(this.finalizer)) return undefined;
      live.metadata.finalizers = finalizers.filter((each) => each !== this.finalizer);
      return live;
    });
    await this.client.delete(this.work(signal), claim);
  }

  /**
   * Frees a claim that was allocated before, if another claim has one of its devices: a scheduler that allocated it and stopped
   * before it looked has left it so. Throws then: the pod has to be placed again.
   */
  private async giveUpContested({ uid }: PodInfo, claim: StoredDeviceClaim, signal: AbortSignal): Promise<void> {
    if (!this.devices.isContested(claim)) return;
    // Others that run with the devices keep them; the other claim is freed then.
    if ((claim.status.reservedFor ?? []).some((user) => user.uid !== uid)) return;
    await this.free(claim, uid, signal);
    throw new ClaimLost(`devices of claim ${claim.metadata.name} were allocated to another claim`);
  }

  /** Writes an allocation, if there is none, and the pod as a user of it. */
  private async bindClaim(
    info: PodInfo,
    claim: StoredDeviceClaim,
    allocation: AllocationResult | undefined,
    signal: AbortSignal,
  ): Promise<StoredDeviceClaim> {
    const uid = claim.metadata.uid ?? '';
    if (allocation !== undefined) await this.protect(claim, signal);
    let written: StoredDeviceClaim | undefined;
    try {
      written = await this.client.updateStatus(this.work(signal), claim, (live) =>
        this.withUser(info, live, allocation),
      );
    } catch (error) {
      if (allocation !== undefined) await this.settle(claim, error, signal);
      throw error;
    }
    if (written === undefined) throw new ClaimLost(`claim ${claim.metadata.name} is gone`);
    if (allocation === undefined) return written;
    const version = BigInt(written.metadata.resourceVersion ?? 0);
    this.devices.wrote(uid, version);
    // Another scheduler may have written the same devices into another claim a moment before.
    await this.devices.claims.reached(version);
    if (!this.devices.isContested(written, version)) return written;
    await this.free(written, info.uid, signal);
    throw new ClaimLost(`devices of claim ${claim.metadata.name} were allocated to another claim`);
  }

  /** Called after a write whose outcome is not known: what was written counts. */
  private async settle(claim: StoredDeviceClaim, error: unknown, signal: AbortSignal): Promise<void> {
    const isKnown = error instanceof ClaimLost || (error instanceof StatusError && error.code < 500);
    const { namespace = '', name = '', uid = '' } = claim.metadata;
    while (!isKnown && !signal.aborted) {
      try {
        const live = await this.client.get(namespace, name);
        if (live?.status.allocation !== undefined) {
          this.devices.wrote(uid, BigInt(live.metadata.resourceVersion ?? 0));
        }
        return;
      } catch {
        await this.dependencies.timers.wait(1000, signal);
      }
    }
  }

  /** Adds the finalizer that keeps a claim until its devices are freed. */
  private async protect(claim: StoredDeviceClaim, signal: AbortSignal): Promise<void> {
    await this.client.update(this.work(signal), claim, (live) => {
      const { finalizers = [] } = live.metadata;
      if (live.metadata.deletionTimestamp !== undefined) throw new ClaimLost(`claim ${claim.metadata.name} is deleted`);
      if (finalizers.includes(this.finalizer)) return undefined;
      live.metadata.finalizers = [...finalizers, this.finalizer];
      return live;
    });
  }

  private withUser(
    { uid, name }: PodInfo,
    live: StoredDeviceClaim,
    allocation: AllocationResult | undefined,
  ): StoredDeviceClaim {
    const { metadata, status } = live;
    if (metadata.deletionTimestamp !== undefined) throw new ClaimLost(`claim ${metadata.name} is deleted`);
    if (allocation !== undefined && status.allocation !== undefined) {
      throw new ClaimLost(`claim ${metadata.name} got devices elsewhere`);
    }
    if (allocation === undefined && status.allocation === undefined) {
      throw new ClaimLost(`claim ${metadata.name} lost its devices`);
    }
    if (allocation !== undefined) {
      const allocationTimestamp = formatTime(this.dependencies.timers.now());
      status.allocation = { ...cloneJson(allocation), allocationTimestamp };
    }
    if (!isReservedFor(live, uid)) {
      status.reservedFor = [...(status.reservedFor ?? []), { resource: 'pods', name, uid }];
    }
    return live;
  }

  /** Makes the claim for the extended resources of a pod. */
  private async extend(
    info: PodInfo,
    plan: DevicePlan,
    extension: PlannedExtension,
    signal: AbortSignal,
  ): Promise<StoredDeviceClaim> {
    const { namespace, name, uid, pod } = info;
    const made = await this.client.create(this.work(signal), {
      metadata: {
        generateName: `${name}-extended-resources-`,
        namespace,
        annotations: { [this.annotation]: 'true' },
        ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name, uid, controller: true }],
      },
      spec: { devices: { requests: [...extension.requests] } },
    } as object);
    const claimUid = made.metadata.uid ?? '';
    this.extensions.set(plan, made);
    this.devices.expect(claimUid, extension.allocation);
    let claim: StoredDeviceClaim;
    try {
      claim = await this.bindClaim(info, made, extension.allocation, signal);
    } finally {
      this.devices.abandon(claimUid);
    }
    const pods = this.dependencies.client.of<StoredPod>({ group: '', resource: 'pods' });
    const noted = await pods.updateStatus(this.work(signal), pod, (live) => {
      live.status.extendedResourceClaimStatus = {
        requestMappings: [...extension.mappings],
        resourceClaimName: claim.metadata.name ?? '',
      };
      return live;
    });
    if (noted === undefined) throw new ClaimLost('the pod is gone');
    return claim;
  }

  /** Resolves when the devices of all claims are prepared; throws when that failed or takes too long. */
  private async prepared(claims: readonly StoredDeviceClaim[], signal: AbortSignal): Promise<void> {
    const done = new AbortController();
    let fault: Error | undefined = new ClaimLost('device binding timeout');
    const check = () => {
      let isReady = true;
      for (const { metadata } of claims) {
        const live = this.devices.claim(metadata.namespace ?? '', metadata.name ?? '');
        const found = live?.status.allocation === undefined ? undefined : bindingState(live);
        if (found === undefined || found.state === 'failed') {
          fault = new ClaimLost(found?.message ?? `claim ${metadata.name} lost its devices`);
          done.abort();
          return;
        }
        isReady &&= found.state === 'ready';
      }
      if (!isReady) return;
      fault = undefined;
      done.abort();
    };
    const leave = claims.map(({ metadata }) =>
      this.devices.onChange(metadata.namespace ?? '', metadata.name ?? '', check),
    );
    try {
      check();
      await this.dependencies.timers.wait(longestBindingMs, AbortSignal.any([signal, done.signal]));
    } finally {
      for (const each of leave) each();
    }
    if (fault !== undefined) throw fault;
  }

  private get client() {
    return this.dependencies.client.of<StoredDeviceClaim>({
      group: groupName('resource', this.dependencies.names),
      resource: 'resourceclaims',
    });
  }

  private work(signal: AbortSignal): ReconcileContext {
    return this.dependencies.work(signal);
  }
}
