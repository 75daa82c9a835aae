import type { ApiObject } from '../../../base/machinery/api-object.js';
import { groupName } from '../../../base/machinery/vendor.js';
import type { DeviceTaintRule } from '../../../objects/apis/resource/v1/device-taint-rule.types.js';
import type {
  AllocationResult,
  DeviceRequestAllocationResult,
} from '../../../objects/apis/resource/v1/resource-claim.types.js';
import type { Informer } from '../../../objects/registry/informers/informer.js';
import {
  type DeviceObjects,
  deviceId,
  isInUseBy,
  poolId,
  type StoredDeviceClaim,
  type StoredDeviceClass,
  type StoredSlice,
} from '../../scheduler/devices/device-objects.js';
import type { ReconcileDependencies } from '../frame/reconcile-loop.js';

/** An allocation that is about to be written, or was written and is not seen yet. */
interface Pending {
  readonly allocation: AllocationResult;
  /** The version in which the claim has the allocation; undefined: not written yet. */
  version: bigint | undefined;
}

/** The devices and claims that the informers show, and the allocations that are about to be written. */
export class InformedDevices implements DeviceObjects {
  readonly claims: Informer<StoredDeviceClaim>;
  readonly classes: Informer<StoredDeviceClass>;
  readonly slices: Informer<StoredSlice>;
  readonly rules: Informer<DeviceTaintRule & ApiObject>;
  private readonly pending = new Map<string, Pending>();
  private readonly pendingUses = new Map<string, Map<string, DeviceRequestAllocationResult[]>>();
  /** The version in which each claim got its present allocation; 0 for one that had it when it was first seen. */
  private readonly allocatedAt = new Map<string, bigint>();
  private readonly waiting = new Map<string, Set<() => void>>();
  private readonly annotation: string;
  private readonly implicit: string;

  constructor({ informers, names }: ReconcileDependencies) {
    const of = <T extends ApiObject>(resource: string) =>
      informers.of<T>({ group: groupName('resource', names), resource });
    this.claims = of('resourceclaims');
    this.classes = of('deviceclasses');
    this.slices = of('resourceslices');
    this.rules = of('devicetaintrules');
    this.annotation = `resource.${names.labelPrefix}/extended-resource-claim`;
    this.implicit = `deviceclass.resource.${names.labelPrefix}/`;
  }

  /** Follows devices and claims until the abort; resolves when the informers are filled. */
  async start(signal: AbortSignal): Promise<void> {
    await Promise.all([this.claims, this.classes, this.slices, this.rules].map((informer) => informer.use(signal)));
    await this.claims.subscribe({ changed: (claim, old) => this.claimChanged(claim, old) }, signal);
  }

  readonly claim = (namespace: string, name: string) => this.claims.get(namespace, name);

  readonly extendedClaimOf = (podUid: string) => {
    const index = this.claims.index('extended resources of pods', ({ metadata }) => {
      if (metadata.annotations?.[this.annotation] !== 'true') return [];
      return (metadata.ownerReferences ?? []).flatMap(({ controller, uid }) => (controller === true ? [uid] : []));
    });
    const [first] = index.get(podUid);
    return first;
  };

  readonly deviceClass = (name: string) => this.classes.get('', name);

  readonly classOfResource = (resource: string) => {
    if (resource.startsWith(this.implicit)) return this.deviceClass(resource.slice(this.implicit.length));
    const named = this.classes.index('extended resource', ({ spec }) =>
      spec.extendedResourceName === undefined ? [] : [spec.extendedResourceName],
    );
    // The newest class counts; among equally new classes, the first by name.
    const isBefore = (a: StoredDeviceClass, b: StoredDeviceClass) => {
      const [one = '', other = ''] = [a, b].map(({ metadata }) => metadata.creationTimestamp ?? '');
      return one === other ? (a.metadata.name ?? '') < (b.metadata.name ?? '') : one > other;
    };
    let found: StoredDeviceClass | undefined;
    for (const each of named.get(resource)) if (found === undefined || isBefore(each, found)) found = each;
    return found;
  };

  readonly slicesOfNode = (node: string) =>
    this.slices
      .index('node', ({ spec }) => (spec.nodeName ? [`node ${spec.nodeName}`] : ['shared']))
      .get(`node ${node}`);

  readonly sharedSlices = () =>
    this.slices.index('node', ({ spec }) => (spec.nodeName ? [`node ${spec.nodeName}`] : ['shared'])).get('shared');

  readonly slicesOfPool = (id: string) =>
    this.slices.index('pool', ({ spec }) => [poolId(spec.driver, spec.pool.name)]).get(id);

  readonly taintRules = () => this.rules.all();

  readonly usesOf = (id: string) => [...this.writtenUses(id).map(({ result }) => result), ...this.pendingUsesOf(id)];

  readonly isBeingAllocated = (claimUid: string) => this.pending.has(claimUid);

  /** Counts an allocation that is about to be written. */
  expect(claimUid: string, allocation: AllocationResult): void {
    this.forget(claimUid);
    this.pending.set(claimUid, { allocation, version: undefined });
    for (const result of allocation.devices.results ?? []) {
      if (!isInUseBy(result)) continue;
      const id = deviceId(result);
      let uses = this.pendingUses.get(id);
      if (uses === undefined) {
        uses = new Map();
        this.pendingUses.set(id, uses);
      }
      uses.set(claimUid, [...(uses.get(claimUid) ?? []), result]);
    }
  }

  /** Records that the allocation was written; it counts as pending until the informers show it. */
  wrote(claimUid: string, version: bigint): void {
    const known = this.pending.get(claimUid);
    if (known !== undefined) known.version = version;
  }

  /** Records that the allocation will not be written. One that has been written still counts. */
  abandon(claimUid: string): void {
    if (this.pending.get(claimUid)?.version === undefined) this.forget(claimUid);
  }

  /** Stops counting an allocation as pending. */
  private forget(claimUid: string): void {
    const known = this.pending.get(claimUid);
    if (known === undefined) return;
    this.pending.delete(claimUid);
    for (const result of known.allocation.devices.results ?? []) {
      const id = deviceId(result);
      const uses = this.pendingUses.get(id);
      uses?.delete(claimUid);
      if (uses?.size === 0) this.pendingUses.delete(id);
    }
  }

  /**
   * Whether a device of a claim was allocated to another claim before, by another scheduler. Informers must show the
   * version in which the claim got its devices.
   *
   * @param version the one in which it got them; undefined: an allocation to another claim counts whenever it was made
   */
  isContested({ metadata, status }: StoredDeviceClaim, version?: bigint): boolean {
    const uid = metadata.uid ?? '';
    return (status.allocation?.devices.results ?? []).some((own) => {
      if (!isInUseBy(own)) return false;
      return this.writtenUses(deviceId(own)).some(({ claim, result }) => {
        const other = claim.metadata.uid ?? '';
        const isWhole = own.shareID === undefined || result.shareID === undefined;
        const isEarlier = version === undefined || (this.allocatedAt.get(other) ?? 0n) < version;
        return other !== uid && isWhole && isEarlier;
      });
    });
  }

  /** Calls back on every change of a claim, until the returned function is called. */
  onChange(namespace: string, name: string, check: () => void): () => void {
    const key = `${namespace}/${name}`;
    const checks = this.waiting.get(key);
    if (checks === undefined) this.waiting.set(key, new Set([check]));
    else checks.add(check);
    return () => {
      const known = this.waiting.get(key);
      known?.delete(check);
      if (known?.size === 0) this.waiting.delete(key);
    };
  }

  private writtenUses(id: string) {
    const index = this.claims.index('allocated devices', ({ status }) => [
      ...new Set((status?.allocation?.devices.results ?? []).filter(isInUseBy).map(deviceId)),
    ]);
    return [...index.get(id)].flatMap((claim) =>
      (claim.status.allocation?.devices.results ?? [])
        .filter((result) => isInUseBy(result) && deviceId(result) === id)
        .map((result) => ({ claim, result })),
    );
  }

  private pendingUsesOf(id: string): readonly DeviceRequestAllocationResult[] {
    return [...(this.pendingUses.get(id)?.values() ?? [])].flat();
  }

  private claimChanged(claim: StoredDeviceClaim | undefined, old: StoredDeviceClaim | undefined): void {
    const { metadata } = (claim ?? old) as StoredDeviceClaim;
    const uid = metadata.uid ?? '';
    const version = BigInt(metadata.resourceVersion ?? 0);
    const known = this.pending.get(uid);
    const isSeen =
      claim?.status?.allocation !== undefined || (known?.version !== undefined && version >= known.version);
    if (known !== undefined && (claim === undefined || isSeen)) this.forget(uid);
    if (claim?.status?.allocation === undefined) this.allocatedAt.delete(uid);
    else if (old === undefined) this.allocatedAt.set(uid, 0n);
    else if (old.status?.allocation === undefined) this.allocatedAt.set(uid, version);
    for (const check of this.waiting.get(`${metadata.namespace}/${metadata.name}`) ?? []) check();
  }
}
