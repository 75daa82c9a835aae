import type { ApiObject } from '../../../base/machinery/api-object.js';
import { StatusError } from '../../../base/machinery/status-error.js';
import type { Namespace } from '../../../objects/apis/core/v1/namespace.types.js';
import { partOf } from '../../../objects/registry/resource-definition.js';
import { openAdmission, type WriteAdmission } from '../../../objects/registry/store/admitted-store.js';
import type { RemoteContent, RemoteContentReport } from '../../../server/aggregation/remote-content.js';
import type { ResourceClient } from '../frame/loop-client.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import {
  type Pauses,
  type ReconcileDependencies,
  ReconcileLoop,
  type Source,
  source,
} from '../frame/reconcile-loop.js';
import { accountContext } from '../work-context.js';
import type { WorkOutcome } from '../work-queue.js';
import { type ContentReport, discoveryProblem, updateConditions } from './namespace-conditions.js';
import { NamespaceContent } from './namespace-content.js';
import { NamespaceGone } from './namespace-gone.js';

type StoredNamespace = Namespace & ApiObject;

export interface NamespaceDependencies extends ReconcileDependencies {
  readonly admission?: WriteAdmission | undefined;
  /**
   * Milliseconds between noticing that a namespace terminates and deleting its content. By then every API process has
   * noticed the termination too and accepts no new objects, and a client that deletes an application object by object
   * still finds them. Default 3,000.
   */
  readonly settleMs?: number | undefined;
  /** Pauses between checks of remaining content, in milliseconds. Default 500 and 10,000. */
  readonly pauses?: Pauses | undefined;
  /** Deletes the content of a namespace on extension servers; without it that content stays. */
  readonly remoteContent?: Pick<RemoteContent, 'delete'> | undefined;
}

/** A namespace known to be terminating. */
interface Terminating {
  readonly uid: string;
  readonly since: number;
  /** Storage names of resources that had objects left; only these are checked until they are empty. */
  busy: ReadonlySet<string> | undefined;
}

/**
 * Finishes the deletion of namespaces. For each namespace with a deletionTimestamp it deletes the content and reports
 * in the status conditions what is left. When nothing is left, it removes its finalizer from `spec.finalizers`. The
 * namespace disappears with its last finalizer.
 */
export class NamespaceController extends ReconcileLoop {
  readonly name = 'namespace-controller';
  protected override readonly workers = 4;
  protected override readonly pauses: Pauses;
  private readonly informed = this.informer<StoredNamespace>('', 'namespaces');
  private readonly namespaces: ResourceClient<StoredNamespace>;
  private readonly content: NamespaceContent;
  private terminating = new Map<string, Terminating>();

  /** @throws Error when the registry has no namespaces with the paths `status` and `finalize`. */
  constructor(private readonly own: NamespaceDependencies) {
    super(own);
    this.pauses = own.pauses ?? { firstMs: 500, longestMs: 10_000 };
    this.namespaces = this.client<StoredNamespace>('', 'namespaces');
    this.content = new NamespaceContent(
      own.registry,
      own.storage,
      own.timers,
      (now, signal) => accountContext(this.name, own.names, now, signal),
      own.admission ?? openAdmission,
    );
    const { definition } = this.namespaces.resource;
    partOf(definition, 'status');
    partOf(definition, 'finalize');
  }

  protected override get queueName(): string {
    return 'namespace';
  }

  protected sources(): readonly Source[] {
    return [
      source(this.informed, (namespace, old) => {
        // Only the start of a termination needs work: this controller itself makes the changes that follow.
        if (namespace?.metadata.deletionTimestamp === undefined) return [];
        return old?.metadata.deletionTimestamp === undefined ? [namespace.metadata.name ?? ''] : [];
      }),
    ];
  }

  protected override started(): void {
    this.terminating = new Map();
  }

  protected async reconcile(name: string, work: ReconcileContext): Promise<WorkOutcome> {
    const { timers, settleMs = 3000, logger } = this.own;
    const seen = this.informed.get('', name);
    const { uid = '', deletionTimestamp } = seen?.metadata ?? {};
    if (seen === undefined || deletionTimestamp === undefined) {
      this.terminating.delete(name);
      return 'done';
    }
    let state = this.terminating.get(name);
    if (state?.uid !== uid) {
      state = { uid, since: timers.elapsed(), busy: undefined };
      this.terminating.set(name, state);
    }
    const settlesIn = state.since + settleMs - timers.elapsed();
    if (settlesIn > 0) return settlesIn;
    const namespace = await this.read(name, uid);
    if (namespace === undefined || !this.holds(namespace)) {
      // The namespace no longer exists, or other finalizers hold it, which their owners remove.
      this.terminating.delete(name);
      return 'done';
    }
    try {
      const isCurrent = async () => (await this.read(name, uid)) !== undefined;
      const report = await this.content.delete(name, isCurrent, state.busy, work.signal);
      const remote = await this.deleteRemote(name, isCurrent, work.signal);
      if (work.signal.aborted) return 'done';
      await this.writeStatus(seen, withRemote(report, remote), work);
      const wasPartial = state.busy !== undefined;
      state.busy = report.resources.size > 0 ? report.resources : undefined;
      const [error] = [...report.errors, ...(remote?.errors ?? [])];
      if (error !== undefined) throw error;
      if (remote !== undefined && remote.discoveryFailures.length > 0) {
        throw new Error(discoveryProblem(remote.discoveryFailures));
      }
      if (report.resources.size > 0 || (remote?.remaining.size ?? 0) > 0) return 'later';
      if (wasPartial) return 0;
      await this.finalize(seen, work);
      this.terminating.delete(name);
      logger.info('the content of a namespace was deleted', { namespace: name });
      return 'done';
    } catch (error) {
      const isGone = error instanceof NamespaceGone || (error instanceof StatusError && error.reason === 'NotFound');
      if (!isGone) throw error;
      this.terminating.delete(name);
      return 'done';
    }
  }

  private async deleteRemote(
    name: string,
    isCurrent: () => Promise<boolean>,
    signal: AbortSignal,
  ): Promise<RemoteContentReport | undefined> {
    if (signal.aborted) return undefined;
    const check = async () => {
      if (!(await isCurrent())) throw new NamespaceGone();
    };
    return this.own.remoteContent?.delete(name, check, signal);
  }

  /** The namespace, if it is still the one that was seen terminating. */
  private async read(name: string, uid: string): Promise<StoredNamespace | undefined> {
    const namespace = await this.namespaces.get('', name);
    const isIt = namespace?.metadata.uid === uid && namespace.metadata.deletionTimestamp !== undefined;
    return isIt ? namespace : undefined;
  }

  private holds({ spec }: Namespace): boolean {
    return (spec.finalizers ?? []).includes(this.own.names.namespaceFinalizer);
  }

  private async writeStatus(seen: StoredNamespace, report: ContentReport, work: ReconcileContext): Promise<void> {
    const { timers } = this.own;
    await this.namespaces.updateStatus(work, seen, (live) => {
      const { conditions = [] } = live.status;
      const updated = updateConditions(conditions, report, timers.now());
      if (updated === conditions && live.status.phase === 'Terminating') return undefined;
      return { ...live, status: { ...live.status, phase: 'Terminating', conditions: [...updated] } };
    });
  }

  private async finalize(seen: StoredNamespace, work: ReconcileContext): Promise<void> {
    const change = (live: StoredNamespace): StoredNamespace => {
      const { finalizers = [], ...spec } = live.spec;
      const kept = finalizers.filter((finalizer) => finalizer !== this.own.names.namespaceFinalizer);
      return { ...live, spec: kept.length === 0 ? spec : { ...spec, finalizers: kept } };
    };
    await this.namespaces.update(work, seen, change, 'finalize');
  }
}

/** What remains here and on extension servers. */
function withRemote(report: ContentReport, remote: RemoteContentReport | undefined): ContentReport {
  if (remote === undefined) return report;
  const finalizers = new Map(report.finalizers);
  for (const [name, count] of remote.finalizers) finalizers.set(name, (finalizers.get(name) ?? 0) + count);
  return {
    remaining: new Map([...report.remaining, ...remote.remaining]),
    finalizers,
    errors: [...report.errors, ...remote.errors],
    discoveryFailures: remote.discoveryFailures,
  };
}
