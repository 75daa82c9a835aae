import { StatusError } from '../../base/machinery/status-error.js';
import type { Lease, LeaseSpec } from '../../objects/apis/coordination/v1/lease.types.js';
import { parseStored } from '../../objects/registry/store/object-codec.js';
import type { Store } from '../../objects/registry/store/store.js';
import { workContext } from './work-context.js';

/** A Lease and the version that was read. */
export interface HeldLease {
  readonly resourceVersion: string;
  readonly spec: Readonly<LeaseSpec>;
}

const loop = 'leader-election';
const noAdmission = async () => {};

/** One Lease object with compare-and-swap writes. */
export class LeaseLock {
  private readonly never = new AbortController().signal;

  constructor(
    private readonly store: Store,
    private readonly namespace: string,
    private readonly name: string,
  ) {}

  /** The newest state; undefined when the Lease does not exist. */
  async read(): Promise<HeldLease | undefined> {
    try {
      const { metadata, spec } = parseStored(
        this.store.resource,
        await this.store.get(this.namespace, this.name),
      ) as Lease;
      return { resourceVersion: metadata.resourceVersion as string, spec };
    } catch (error) {
      if (error instanceof StatusError && error.reason === 'NotFound') return undefined;
      throw error;
    }
  }

  /** Creates the Lease. Throws a StatusError `AlreadyExists` when another candidate was faster. */
  async create(spec: LeaseSpec, now: number): Promise<void> {
    const { name, namespace } = this;
    const metadata = { name, namespace };
    await this.store.create(
      workContext(loop, now, this.never),
      { metadata, spec },
      { dryRun: false, validate: noAdmission },
    );
  }

  /** Replaces the state that was read. Throws a StatusError `Conflict` when it is no longer the newest. */
  async update(read: HeldLease, spec: LeaseSpec, now: number): Promise<void> {
    await this.store.update(workContext(loop, now, this.never), this.namespace, this.name, {
      dryRun: false,
      validate: noAdmission,
      transform: (live) => {
        // The Lease was deleted since it was read. This uid makes the store refuse, instead of creating a new Lease.
        if (live === undefined) return { metadata: { name: this.name, namespace: this.namespace, uid: 'gone' }, spec };
        return { ...live, metadata: { ...live.metadata, resourceVersion: read.resourceVersion }, spec };
      },
    });
  }
}
