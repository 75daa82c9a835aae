import { parseCidr } from '../../../base/config/network.js';
import type { NodeRanges } from '../../../base/config/node-ipam.options.js';
import type { Allocation } from '../../../objects/registry/allocation/allocation.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import { type ReconcileDependencies, ReconcileLoop, type Source, source } from '../frame/reconcile-loop.js';
import { TermOver } from '../frame/term-over.js';
import type { StoredNode } from '../node-lifecycle/node-silence.js';
import type { WorkOutcome } from '../work-queue.js';
import { NodeRangeClaims, podRangesOf } from './node-range-claims.js';
import { RangePool } from './range-pool.js';

export interface NodeIpamDependencies extends ReconcileDependencies {
  /** One range, or one for each family of addresses. */
  readonly ranges: readonly NodeRanges[];
  /** The range of the addresses of services, which nodes don't get. */
  readonly serviceRanges: readonly string[];
}

/**
 * How soon nodes without ranges are checked again, in milliseconds: ranges of nodes that were deleted while no process
 * led become free after a while.
 */
const fullPauseMs = 60_000;

/** A part that was reserved for a node. */
interface Share {
  readonly pool: RangePool;
  readonly part: number;
  readonly allocation: Allocation;
}

/** The ranges of a node that is gone. */
interface Estate {
  readonly uid: string;
  readonly ranges: readonly string[];
}

/**
 * Assigns each node without pod ranges a part of every range of the cluster. Ranges that nodes already have stay,
 * wherever they are; those of deleted nodes are reused.
 */
export class NodeIpamController extends ReconcileLoop {
  readonly name = 'node-ipam-controller';
  private readonly nodes = this.informer<StoredNode>('', 'nodes');
  private readonly claims: NodeRangeClaims;
  private pools: RangePool[] = [];
  private estates = new Map<string, Estate[]>();
  /** Names of nodes for which no range was left. */
  private hungry = new Set<string>();

  constructor(private readonly own: NodeIpamDependencies) {
    super(own);
    this.claims = new NodeRangeClaims(own.storage, own.registry, own.timers);
  }

  protected override get account(): string {
    return 'node-controller';
  }

  protected override get queueName(): string {
    return 'cidrallocator_node';
  }

  protected override get component(): string {
    return 'cidrAllocator';
  }

  protected sources(): readonly Source[] {
    return [
      source(this.nodes, (node, old) => {
        const { name = '' } = (node ?? old)?.metadata ?? {};
        return node !== undefined && isServed(node) ? [] : [name];
      }),
    ];
  }

  protected override async started(signal: AbortSignal): Promise<void> {
    const reserved = this.own.serviceRanges.map(parseCidr).filter((range) => range !== undefined);
    this.pools = this.own.ranges.map((ranges) => new RangePool(ranges, reserved));
    this.estates = new Map();
    this.hungry = new Set();
    await this.nodes.subscribe({ changed: (node, old) => this.follow(node, old) }, signal);
  }

  /** Tracks the ranges of nodes. */
  private follow(node: StoredNode | undefined, old: StoredNode | undefined): void {
    const { name = '', uid = '' } = (node ?? old)?.metadata ?? {};
    if (node !== undefined) {
      for (const range of podRangesOf(node)) for (const pool of this.pools) pool.occupy(range, uid);
    } else if (old !== undefined) {
      this.hungry.delete(name);
      const ranges = podRangesOf(old);
      if (ranges.length > 0) this.estates.set(name, [...(this.estates.get(name) ?? []), { uid, ranges }]);
    }
  }

  protected async reconcile(key: string, work: ReconcileContext): Promise<WorkOutcome> {
    this.hungry.delete(key);
    await this.releaseEstates(key);
    const node = this.nodes.get('', key);
    if (node === undefined || isServed(node)) return 'done';
    const shares: Share[] = [];
    for (const pool of this.pools) {
      const share = await this.take(pool, node);
      if (share === undefined) {
        await this.giveBack(shares, node);
        return this.reportFull(node);
      }
      shares.push(share);
    }
    return this.assign(node, shares, work);
  }

  private async releaseEstates(name: string): Promise<void> {
    const estates = this.estates.get(name);
    if (estates === undefined) return;
    this.estates.delete(name);
    for (const { uid, ranges } of estates) {
      for (const range of ranges) {
        await this.claims.release(range, uid);
        for (const pool of this.pools) pool.free(range, uid);
      }
    }
    for (const other of this.hungry) this.enqueue(other);
  }

  /** Takes a free part for a node; undefined when none is left. */
  private async take(pool: RangePool, node: StoredNode): Promise<Share | undefined> {
    const holder = node.metadata.uid ?? '';
    const refused = new Set<number>();
    for (let part = pool.find(refused); part !== undefined; part = pool.find(refused)) {
      // Concurrent work on another node must not find it free.
      pool.hold(part, holder);
      const allocation = await this.claims.take(pool.text(part), node);
      if (allocation !== undefined) return { pool, part, allocation };
      pool.release(part, holder);
      refused.add(part);
    }
    return undefined;
  }

  private async giveBack(shares: readonly Share[], node: StoredNode): Promise<void> {
    for (const { allocation } of shares) await this.claims.undo(allocation);
    this.letGo(shares, node);
  }

  private letGo(shares: readonly Share[], { metadata }: StoredNode): void {
    const { name = '', uid = '' } = metadata;
    for (const { pool, part } of shares) pool.release(part, uid);
    // Another process may have assigned the same range.
    const live = this.nodes.get('', name);
    if (live !== undefined) this.follow(live, undefined);
  }

  private reportFull(node: StoredNode): WorkOutcome {
    const { name = '' } = node.metadata;
    this.hungry.add(name);
    this.events.normal(node, 'CIDRNotAvailable', `Node ${name} status is now: CIDRNotAvailable`);
    return fullPauseMs;
  }

  private async assign(node: StoredNode, shares: readonly Share[], work: ReconcileContext): Promise<WorkOutcome> {
    const ranges = shares.map(({ pool, part }) => pool.text(part));
    try {
      const written = await this.client<StoredNode>('', 'nodes').update(work, node, (live) => {
        if (isServed(live)) return undefined;
        return { ...live, spec: { ...live.spec, podCIDR: ranges[0], podCIDRs: ranges } };
      });
      // The node is gone, being deleted, or was served by another process.
      if (written === undefined) await this.giveBack(shares, node);
    } catch (error) {
      const { name = '' } = node.metadata;
      // Otherwise the claims stay with the node: the write may have happened.
      if (error instanceof TermOver) await this.giveBack(shares, node);
      else this.letGo(shares, node);
      this.events.normal(node, 'CIDRAssignmentFailed', `Node ${name} status is now: CIDRAssignmentFailed`);
      throw error;
    }
    return 'done';
  }
}

/** Whether a node needs no ranges. */
function isServed(node: Readonly<StoredNode>): boolean {
  return node.metadata.deletionTimestamp !== undefined || podRangesOf(node).length > 0;
}
