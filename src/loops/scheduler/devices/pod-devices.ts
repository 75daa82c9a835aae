import type { ContainerExtendedResourceRequest } from '../../../objects/apis/core/v1/pod.types.js';
import type { DeviceRequest } from '../../../objects/apis/resource/v1/device-claim.types.js';
import type { AllocationResult } from '../../../objects/apis/resource/v1/resource-claim.types.js';
import type { NodeInfo } from '../node-info.js';
import { nodeTermsTest } from '../node-selection.js';
import type { PodInfo } from '../pod-info.js';
import { allocationOf } from './allocation-of.js';
import { bindingState, isBindingLate } from './binding-state.js';
import { DeviceFault } from './device-fault.js';
import type { DeviceObjects, StoredDeviceClaim } from './device-objects.js';
import { DeviceSearch, type FoundDevices } from './device-search.js';
import { extendedRequests } from './extended-resources.js';
import { checkUsable, claimsOf } from './pod-device-claims.js';
import { type WantedClaim, wantedDevicesOf } from './wanted-devices.js';

/** How long devices are looked for on one node, and on all nodes together, in milliseconds. */
const longestOnNode = 25;
const longestInAll = 500;

/** A claim of a pod, and the allocation that is written into it; undefined: it has one. */
export interface PlannedClaim {
  readonly claim: StoredDeviceClaim;
  readonly allocation: AllocationResult | undefined;
}

/** The claim that is made for the extended resources of a pod. */
export interface PlannedExtension {
  readonly requests: readonly DeviceRequest[];
  readonly mappings: readonly ContainerExtendedResourceRequest[];
  readonly allocation: AllocationResult;
}

/** What is written before a pod is bound to a node. */
export interface DevicePlan {
  readonly claims: readonly PlannedClaim[];
  readonly extension: PlannedExtension | undefined;
}

/** The devices that a pod needs, for finding out which nodes have them. */
export class PodDevices {
  private readonly wanted: readonly WantedClaim[];
  private readonly until = performance.now() + longestInAll;

  private constructor(
    private readonly pod: PodInfo,
    private readonly claims: readonly StoredDeviceClaim[],
    /** The classes of the extended resources that devices stand for. */
    private readonly extended: ReadonlyMap<string, string>,
    private readonly objects: DeviceObjects,
    private readonly now: number,
  ) {
    this.wanted = claims
      .filter(({ status }) => status?.allocation === undefined)
      .map((claim) => wantedDevicesOf(claim, objects));
  }

  /**
   * Undefined for a pod without devices. Throws a DeviceFault if it can't have them, wherever it is placed.
   *
   * @param now milliseconds since 1970
   */
  static of(pod: PodInfo, objects: DeviceObjects, group: string, now: number): PodDevices | undefined {
    const extended = extendedClasses(pod, objects);
    if ((pod.pod.spec.resourceClaims ?? []).length === 0 && extended.size === 0) return undefined;
    const claims = claimsOf(pod.pod, objects, group);
    if (claims.length === 0 && extended.size === 0) return undefined;
    for (const claim of claims) checkUsable(claim, pod.uid, objects);
    return new PodDevices(pod, claims, extended, objects, now);
  }

  /** Why the pod can't have its devices on a node; undefined: it can. Throws a DeviceFault if it goes to no node at all. */
  refusalOn(node: NodeInfo): string | undefined {
    try {
      const searched = this.search(node);
      // A claim whose devices are elsewhere is reported only if all others could get theirs.
      if (searched !== undefined && this.unavailable(node).length > 0) return 'resourceclaim not available on the node';
      return searched === undefined ? 'cannot allocate all claims' : undefined;
    } catch (error) {
      if (error instanceof DeviceFault && error.isOfNode) return error.message;
      throw error;
    }
  }

  /** What is written when the pod goes to the node. Throws a DeviceFault if it can't go there. */
  planFor(node: NodeInfo): DevicePlan {
    const found = this.search(node);
    if (found === undefined) throw new DeviceFault('cannot allocate all claims', true);
    const allocations = new Map(found.map((each) => [each.claim.claim, allocationOf(each, node.name)]));
    const claims = this.claims.map((claim) => ({ claim, allocation: allocations.get(claim) }));
    const last = found.at(-1);
    if (last === undefined || last.claim.claim.metadata.uid !== undefined) return { claims, extension: undefined };
    const { requests, mappings } = extendedRequests(this.pod.pod.spec, this.extendedOn(node));
    const allocation = allocations.get(last.claim.claim) as AllocationResult;
    return { claims, extension: { requests, mappings, allocation } };
  }

  /**
   * The preference for a node: earlier alternatives count more. Undefined if no claim has alternatives.
   */
  scoreOn(node: NodeInfo): number | undefined {
    if (!this.claims.some(({ spec }) => (spec.devices.requests ?? []).some(({ exactly }) => exactly === undefined))) {
      return undefined;
    }
    const found = this.search(node) ?? [];
    let score = 0;
    for (const { claim, choices } of found) {
      claim.requests.forEach(({ choices: all, hasAlternatives }, i) => {
        if (hasAlternatives) score += mostAlternatives - all.indexOf(choices[i] as (typeof all)[number]);
      });
    }
    return score;
  }

  /** The claims of the pod that keep it from all of the given nodes, and that nobody else uses. */
  freeable(nodes: readonly NodeInfo[]): readonly StoredDeviceClaim[] {
    const kept = new Set(nodes.flatMap((node) => this.unavailable(node)));
    return [...kept].filter(({ status }) => (status.reservedFor ?? []).every(({ uid }) => uid === this.pod.uid));
  }

  /** The claims with devices that can't be used on the node. */
  private unavailable(node: NodeInfo): readonly StoredDeviceClaim[] {
    return this.claims.filter((claim) => {
      const { allocation } = claim.status;
      if (allocation === undefined) return false;
      const terms = allocation.nodeSelector?.nodeSelectorTerms;
      if (terms !== undefined && !nodeTermsTest(terms ?? [])(node)) return true;
      const { state } = bindingState(claim);
      return state === 'failed' || (state === 'waiting' && isBindingLate(claim, this.now));
    });
  }

  private search(node: NodeInfo): readonly FoundDevices[] | undefined {
    const { requests } = extendedRequests(this.pod.pod.spec, this.extendedOn(node));
    const wanted = [...this.wanted];
    if (requests.length > 0) wanted.push(this.extensionOf(requests));
    if (wanted.length === 0) return [];
    const until = Math.min(this.until, performance.now() + longestOnNode);
    return new DeviceSearch(node, wanted, this.objects, until).run();
  }

  /** The extended resources that the node itself does not have. */
  private extendedOn({ allocatable }: NodeInfo): ReadonlyMap<string, string> {
    return new Map([...this.extended].filter(([name]) => (allocatable.others.get(name) ?? 0) === 0));
  }

  private extensionOf(requests: readonly DeviceRequest[]): WantedClaim {
    const { namespace } = this.pod;
    const claim = {
      metadata: { namespace, name: '<extended-resources>' },
      spec: { devices: { requests: [...requests] } },
      status: {},
    } as unknown as StoredDeviceClaim;
    return wantedDevicesOf(claim, this.objects);
  }
}

/** The most alternatives of one request. */
const mostAlternatives = 8;

function extendedClasses({ uid, requests }: PodInfo, objects: DeviceObjects): ReadonlyMap<string, string> {
  const classes = new Map<string, string>();
  for (const [name, amount] of requests.others) {
    const found = amount > 0 ? objects.classOfResource(name) : undefined;
    if (found !== undefined) classes.set(name, found.metadata.name ?? '');
  }
  if (classes.size > 0 && objects.extendedClaimOf(uid) !== undefined) {
    throw new DeviceFault('cannot schedule extended resource claim');
  }
  return classes;
}
