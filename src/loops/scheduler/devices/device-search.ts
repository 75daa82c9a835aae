import { randomUUID } from 'node:crypto';
import { quantityOf } from '../../../base/machinery/values/quantity.js';
import type { SelectableNode } from '../node-selection.js';
import { AttributeConstraint } from './attribute-constraint.js';
import { type CapacityAmounts, fitsBeside, takenBy } from './capacity-use.js';
import { CounterUse } from './counter-use.js';
import { DeviceFault } from './device-fault.js';
import type { DeviceObjects } from './device-objects.js';
import { type DevicePool, type PoolDevice, poolsFor } from './device-pools.js';
import { isSelected } from './device-selection.js';
import { keepsAway, taintsOf } from './tainted-devices.js';
import type { WantedClaim, WantedDevices } from './wanted-devices.js';

/** The most devices that one claim can get. */
const mostResults = 32;

/** A device that was found for a request. */
export interface FoundDevice {
  readonly candidate: PoolDevice;
  readonly wanted: WantedDevices;
  /** Identity of a share of the device, and how much of it that is; undefined: the whole device. */
  readonly share: { readonly id: string; readonly amounts: CapacityAmounts } | undefined;
}

/** The devices for a claim, and the choice made for each of its requests. */
export interface FoundDevices {
  readonly claim: WantedClaim;
  readonly devices: readonly FoundDevice[];
  readonly choices: readonly WantedDevices[];
}

type Outcome = 'found' | 'none' | 'too many';

/** A place in the search: the claim, the request, the choice and how many devices it has. */
interface Place {
  readonly claim: number;
  readonly request: number;
  readonly wanted: WantedDevices;
  readonly done: number;
}

/**
 * The search for devices on one node: each request of each claim tries the devices in their order, and goes back when
 * a later one finds nothing. The first solution counts.
 */
export class DeviceSearch {
  private readonly pools: readonly DevicePool[];
  private readonly devices: readonly PoolDevice[];
  private readonly counters: CounterUse;
  private readonly constraints: readonly (readonly AttributeConstraint[])[];
  private readonly found: FoundDevice[][];
  private readonly choices: WantedDevices[][];
  /** The claims that get a device as a whole. */
  private readonly taken = new Map<string, Set<number>>();
  /** The shares of a device that the claims get. */
  private readonly shares = new Map<string, CapacityAmounts[]>();
  private readonly selected = new Map<WantedDevices, Map<PoolDevice, boolean>>();
  private readonly all = new Map<WantedDevices, readonly PoolDevice[]>();
  private tries = 0;

  /** @param until the time, by `performance.now()`, when the search has to end */
  constructor(
    node: SelectableNode,
    private readonly claims: readonly WantedClaim[],
    private readonly objects: DeviceObjects,
    private readonly until: number,
  ) {
    this.pools = poolsFor(node, objects);
    this.devices = this.pools.flatMap(({ devices }) => devices);
    this.counters = new CounterUse(objects);
    this.constraints = claims.map(({ constraints }) => constraints.map((each) => new AttributeConstraint(each)));
    this.found = claims.map(() => []);
    this.choices = claims.map(() => []);
  }

  /** The devices for all claims; undefined when not all claims can get theirs. Throws a DeviceFault. */
  run(): readonly FoundDevices[] | undefined {
    this.checkCounts();
    if (this.forClaim(0) !== 'found') {
      if (this.pools.some(({ fault }) => fault === 'invalid')) {
        throw new DeviceFault('invalid resource pools were encountered', true);
      }
      return undefined;
    }
    return this.claims.map((claim, i) => ({
      claim,
      devices: this.found[i] as FoundDevice[],
      choices: this.choices[i] as WantedDevices[],
    }));
  }

  /** Checks that no claim requests more devices than a claim can have: such a claim is never satisfied. */
  private checkCounts(): void {
    for (const claim of this.claims) {
      let sum = 0;
      for (const { name, choices } of claim.requests) {
        const least = Math.min(...choices.map((wanted) => wanted.count ?? this.allFor(wanted, claim).length));
        if (least > mostResults - sum) {
          throw new DeviceFault(
            `claim ${claim.label}, request ${name}: adding ${least} devices exceeds the claim limit of ${mostResults}, with ${sum} already accounted for`,
          );
        }
        sum += least;
      }
    }
  }

  private forClaim(claim: number): Outcome {
    return claim === this.claims.length ? 'found' : this.forRequest(claim, 0);
  }

  private forRequest(claim: number, request: number): Outcome {
    const wanted = this.claims[claim]?.requests[request];
    if (wanted === undefined) return this.forClaim(claim + 1);
    let outcome: Outcome = 'too many';
    for (const choice of wanted.choices) {
      (this.choices[claim] as WantedDevices[])[request] = choice;
      const each = this.forDevice({ claim, request, wanted: choice, done: 0 }, 0);
      if (each === 'found') return each;
      if (each === 'none') outcome = each;
    }
    return outcome;
  }

  /** @param from the first device to try: those before it were tried for the same request */
  private forDevice(place: Place, from: number): Outcome {
    const { claim, request, wanted, done } = place;
    const all = wanted.count === undefined ? this.allFor(wanted, this.claims[claim] as WantedClaim) : undefined;
    const count = wanted.count ?? (all as readonly PoolDevice[]).length;
    if (all !== undefined && count === 0) return 'none';
    if (done >= count) return this.forRequest(claim, request + 1);
    if (count - done > mostResults - (this.found[claim] as FoundDevice[]).length) return 'too many';
    const candidates = all ?? this.devices;
    // All devices are wanted, in whatever order.
    const end = all === undefined ? candidates.length : done + 1;
    for (let i = all === undefined ? from : done; i < end; i++) {
      const undo = this.take(place, candidates[i] as PoolDevice);
      if (undo === undefined) continue;
      const outcome = this.forDevice({ ...place, done: done + 1 }, i + 1);
      if (outcome === 'found') return outcome;
      undo();
      if (outcome === 'too many') return outcome;
    }
    return 'none';
  }

  /** All devices that a request for all devices selects. */
  private allFor(wanted: WantedDevices, claim: WantedClaim): readonly PoolDevice[] {
    let all = this.all.get(wanted);
    if (all === undefined) {
      for (const { id, fault } of this.pools) {
        if (fault === undefined) continue;
        const state = fault === 'incomplete' ? 'being updated' : 'invalid';
        throw new DeviceFault(
          `claim ${claim.label}, request ${wanted.name}: asks for all devices, but resource pool ${id} is currently ${state}`,
        );
      }
      all = this.devices.filter((candidate) => {
        if (!this.isSelected(wanted, claim, candidate)) return false;
        const amounts = takenBy(wanted, claim, candidate);
        return amounts !== undefined && fitsBeside(candidate, amounts, []);
      });
      this.all.set(wanted, all);
    }
    return all;
  }

  private isSelected(wanted: WantedDevices, claim: WantedClaim, candidate: PoolDevice): boolean {
    let known = this.selected.get(wanted);
    if (known === undefined) {
      known = new Map();
      this.selected.set(wanted, known);
    }
    let is = known.get(candidate);
    if (is === undefined) {
      is = isSelected(wanted, claim, candidate);
      known.set(candidate, is);
    }
    return is;
  }

  /** Takes a device for a claim; the returned function gives it back. Undefined if the claim can't have it. */
  private take({ claim, wanted }: Place, candidate: PoolDevice): (() => void) | undefined {
    this.checkTime();
    const of = this.claims[claim] as WantedClaim;
    const isShared = candidate.device.allowMultipleAllocations === true;
    if (this.isInUse(claim, wanted, candidate, isShared) || !this.isSelected(wanted, of, candidate)) return undefined;
    const taints = taintsOf(candidate.device, candidate.name, this.objects.taintRules());
    if (keepsAway(taints, wanted.tolerations)) return undefined;
    const amounts = this.amountsFor(wanted, of, candidate);
    if (amounts === undefined) return undefined;
    const undo: (() => void)[] = [];
    const undoAll = () => {
      for (const each of undo.reverse()) each();
    };
    // The first share of a device takes its counters for all of them.
    if (!(isShared && this.hasShares(candidate))) {
      if (!this.counters.take(candidate)) return undefined;
      undo.push(() => this.counters.give(candidate));
    }
    for (const constraint of this.constraints[claim] as readonly AttributeConstraint[]) {
      if (!constraint.add(wanted, candidate)) {
        undoAll();
        return undefined;
      }
      undo.push(() => constraint.remove(wanted, candidate));
    }
    undo.push(isShared ? this.addShare(candidate, amounts) : this.mark(candidate, claim));
    const found = this.found[claim] as FoundDevice[];
    found.push({ candidate, wanted, share: isShared ? { id: randomUUID(), amounts } : undefined });
    undo.push(() => void found.pop());
    return undoAll;
  }

  private isInUse(claim: number, { isForAdmin }: WantedDevices, { id }: PoolDevice, isShared: boolean): boolean {
    if (isForAdmin) return !isShared && this.taken.get(id)?.has(claim) === true;
    if ((this.taken.get(id)?.size ?? 0) > 0) return true;
    return this.objects.usesOf(id).some(({ shareID }) => shareID === undefined);
  }

  private hasShares({ id }: PoolDevice): boolean {
    return this.shares.has(id) || this.objects.usesOf(id).length > 0;
  }

  private amountsFor(wanted: WantedDevices, of: WantedClaim, candidate: PoolDevice): CapacityAmounts | undefined {
    const amounts = takenBy(wanted, of, candidate);
    if (amounts === undefined) return undefined;
    const before = this.objects.usesOf(candidate.id).map(({ consumedCapacity }) => {
      return new Map(Object.entries(consumedCapacity ?? {}).map(([name, amount]) => [name, quantityOf(amount)]));
    });
    return fitsBeside(candidate, amounts, [...before, ...(this.shares.get(candidate.id) ?? [])]) ? amounts : undefined;
  }

  private addShare({ id }: PoolDevice, amounts: CapacityAmounts): () => void {
    const shares = this.shares.get(id);
    if (shares === undefined) this.shares.set(id, [amounts]);
    else shares.push(amounts);
    return () => {
      const known = this.shares.get(id) as CapacityAmounts[];
      known.pop();
      if (known.length === 0) this.shares.delete(id);
    };
  }

  private mark({ id }: PoolDevice, claim: number): () => void {
    let claims = this.taken.get(id);
    if (claims === undefined) {
      claims = new Set();
      this.taken.set(id, claims);
    }
    claims.add(claim);
    return () => void claims.delete(claim);
  }

  /** Checks the time after every 64 tries, because reading the clock costs more than a try. */
  private checkTime(): void {
    this.tries += 1;
    if (this.tries % 64 === 0 && performance.now() > this.until) {
      throw new DeviceFault('timed out trying to allocate devices');
    }
  }
}
