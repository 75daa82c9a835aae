import type { ApiObject } from '../../../base/machinery/api-object.js';
import { formatTime } from '../../../base/machinery/clock.js';
import { eachInSteps, inTurns } from '../../../base/machinery/turns.js';
import type { IPAddress, ServiceCIDR } from '../../../objects/apis/networking/v1/service-cidr.types.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import { ownKey, ReconcileLoop, type Source, source } from '../frame/reconcile-loop.js';
import type { WorkOutcome } from '../work-queue.js';
import { AddressRanges } from './address-ranges.js';

type StoredRange = ServiceCIDR & ApiObject;
type StoredAddress = IPAddress & ApiObject;

interface Readiness {
  readonly status: 'True' | 'False';
  readonly reason: string;
  readonly message: string;
}

const ready: Readiness = { status: 'True', reason: '', message: 'Kubernetes Service CIDR is ready' };
const terminating: Readiness = {
  status: 'False',
  reason: 'Terminating',
  message: 'There are still IPAddresses referencing the ServiceCIDR, please remove them or create a new ServiceCIDR',
};

/** How long writes of services that saw a range before its deletion may still take, in milliseconds. */
const graceMs = 10_000;

/**
 * Keeps each ServiceCIDR while services have addresses that lie in no other one: it puts a finalizer on every object
 * and removes it from those that are being deleted and no longer needed. The condition `Ready` reports which of the two
 * is the case.
 */
export class ServiceCidrController extends ReconcileLoop {
  readonly name = 'service-cidr-controller';
  private readonly ranges = this.informer<StoredRange>('networking', 'servicecidrs');
  private readonly addresses = this.informer<StoredAddress>('networking', 'ipaddresses');
  private readonly finalizer = `networking.${this.dependencies.names.suffix}/service-cidr-finalizer`;
  private readonly managedBy = `ipaddress.${this.dependencies.names.labelPrefix}/managed-by`;
  private readonly allocator = `ipallocator.${this.dependencies.names.suffix}`;

  protected override get account(): string {
    return 'service-cidrs-controller';
  }

  protected sources(): readonly Source[] {
    return [
      // The addresses that one object covers decide whether the others may be deleted.
      source(this.ranges, (object, old) => [...ownKey(object, old), ...this.waiting()]),
      source(this.addresses, (object) => (object === undefined ? this.waiting() : [])),
    ];
  }

  protected async reconcile(name: string, work: ReconcileContext): Promise<WorkOutcome> {
    const object = this.ranges.get('', name);
    if (object === undefined) return 'done';
    if (object.metadata.deletionTimestamp !== undefined) return this.release(object, work);
    if (!this.isHeld(object)) {
      await this.changeFinalizers(object, work, (others) => [...others, this.finalizer]);
    }
    await this.setReady(object, ready, work);
    return 'done';
  }

  /** Ends the deletion of an object once nothing needs it. */
  private async release(object: StoredRange, work: ReconcileContext): Promise<WorkOutcome> {
    if (!this.isHeld(object)) return 'done';
    const { timers, storage } = this.dependencies;
    const head = await storage.head();
    await Promise.all([this.ranges.reached(head), this.addresses.reached(head)]);
    if (await this.isNeeded(object)) {
      // The object is checked again when an address or another range changes.
      await this.setReady(object, terminating, work);
      return 'done';
    }
    const { name = '', deletionTimestamp = '' } = object.metadata;
    const restMs = Date.parse(deletionTimestamp) + graceMs - timers.now();
    if (restMs > 0) this.enqueue(name, restMs);
    else await this.changeFinalizers(object, work, (others) => others);
    return 'done';
  }

  private *waiting(): Iterable<string> {
    for (const { metadata } of this.ranges.all()) {
      if (metadata.deletionTimestamp !== undefined) yield metadata.name ?? '';
    }
  }

  private isHeld({ metadata }: StoredRange): boolean {
    return metadata.finalizers?.includes(this.finalizer) === true;
  }

  /** Whether a service has an address of this object that lies in no other one. */
  private async isNeeded({ metadata, spec }: StoredRange): Promise<boolean> {
    const own = new AddressRanges(spec.cidrs ?? []);
    const others = new AddressRanges(
      [...this.ranges.all()]
        .filter((other) => other.metadata.name !== metadata.name && other.metadata.deletionTimestamp === undefined)
        .flatMap((other) => other.spec.cidrs ?? []),
    );
    let isNeeded = false;
    const visit = ({ metadata: address }: StoredAddress) => {
      if (isNeeded || address.labels?.[this.managedBy] !== this.allocator) return;
      const { name = '' } = address;
      isNeeded = own.contain(name) && !others.contain(name);
    };
    await inTurns(eachInSteps([...this.addresses.all()], visit));
    return isNeeded;
  }

  private async changeFinalizers(
    object: StoredRange,
    work: ReconcileContext,
    change: (others: readonly string[]) => readonly string[],
  ): Promise<void> {
    const isDeleted = object.metadata.deletionTimestamp !== undefined;
    await this.client<StoredRange>('networking', 'servicecidrs').update(work, object, (live) => {
      const { finalizers = [], deletionTimestamp } = live.metadata;
      // The object was deleted meanwhile: the next run decides.
      if ((deletionTimestamp !== undefined) !== isDeleted) return undefined;
      live.metadata.finalizers = [...change(finalizers.filter((entry) => entry !== this.finalizer))];
      return live;
    });
  }

  private async setReady(object: StoredRange, wanted: Readiness, work: ReconcileContext): Promise<void> {
    if (isShown(object, wanted)) return;
    await this.client<StoredRange>('networking', 'servicecidrs').updateStatus(work, object, (live) => {
      if (isShown(live, wanted)) return undefined;
      const others = (live.status.conditions ?? []).filter(({ type }) => type !== 'Ready');
      const lastTransitionTime = formatTime(this.dependencies.timers.now());
      live.status.conditions = [...others, { type: 'Ready', ...wanted, lastTransitionTime }];
      return live;
    });
  }
}

function isShown({ status }: StoredRange, { status: value, reason, message }: Readiness): boolean {
  const shown = status.conditions?.find(({ type }) => type === 'Ready');
  return shown?.status === value && shown.reason === reason && shown.message === message;
}
