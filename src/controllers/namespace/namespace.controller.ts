import type { RemoteContent, RemoteContentReport } from '../../aggregation/remote-content.js';
import type { Namespace } from '../../apis/core/v1/namespace.types.js';
import type { ApiObject } from '../../machinery/api-object.js';
import { cloneJson } from '../../machinery/json/exact-numbers.js';
import { StatusError } from '../../machinery/status-error.js';
import type { VendorNames } from '../../machinery/vendor.js';
import type { Logger } from '../../observability/logger.js';
import { Lister } from '../../registry/informers/lister.js';
import { partOf } from '../../registry/resource-definition.js';
import type { ResourceRegistry } from '../../registry/resource-registry.js';
import { type AdmittedStore, openAdmission, type WriteAdmission } from '../../registry/store/admitted-store.js';
import { parseStored } from '../../registry/store/object-codec.js';
import type { Storage } from '../../storage/storage.interface.js';
import type { ControlLoop } from '../control-loop.js';
import type { Timers } from '../timers.js';
import { accountContext } from '../work-context.js';
import { type WorkOutcome, WorkQueue } from '../work-queue.js';
import { workStore } from '../work-store.js';
import { type ContentReport, discoveryProblem, updateConditions } from './namespace-conditions.js';
import { NamespaceContent, NamespaceGone } from './namespace-content.js';

export interface NamespaceControllerOptions {
  readonly storage: Storage;
  readonly admission?: WriteAdmission | undefined;
  readonly registry: ResourceRegistry;
  readonly names: VendorNames;
  readonly logger: Logger;
  readonly timers: Timers;
  /** Namespaces worked on at the same time. Default 4. */
  readonly workers?: number | undefined;
  /**
   * Milliseconds between noticing that a namespace terminates and deleting its content. By then every API process has
   * noticed it too and accepts no new objects, and a client that deletes an application object by object still finds
   * them. Default 3,000.
   */
  readonly settleMs?: number | undefined;
  /** First and longest pause between checks of remaining content. Default 500 and 10,000. */
  readonly firstPauseMs?: number | undefined;
  readonly longestPauseMs?: number | undefined;
  /** How often all terminating namespaces are checked regardless of changes. Default 5 minutes. */
  readonly resyncMs?: number | undefined;
  /** Deletes what extension servers keep in a namespace; without it nothing is. */
  readonly remoteContent?: Pick<RemoteContent, 'delete'> | undefined;
}

/** A namespace known to be terminating. */
interface Terminating {
  readonly uid: string;
  readonly since: number;
  /** Storage names of resources that had objects left; only these are checked until they are empty. */
  busy: ReadonlySet<string> | undefined;
}

const resource = 'namespaces';

/**
 * Finishes the deletion of namespaces. For each namespace with a deletionTimestamp it deletes the content and reports
 * in the status conditions what is left. When nothing is left, it removes its finalizer from `spec.finalizers`. The
 * namespace disappears with its last finalizer.
 */
export class NamespaceController implements ControlLoop {
  readonly name = 'namespace-controller';
  private readonly store: AdmittedStore;
  private readonly content: NamespaceContent;
  private terminating = new Map<string, Terminating>();

  /** @throws Error when the registry has no namespaces with the paths `status` and `finalize`. */
  constructor(private readonly options: NamespaceControllerOptions) {
    const { registry, storage, timers } = options;
    const served = registry.findStoredResource('', 'v1', resource);
    if (served === undefined) throw new Error('the resource namespaces is not registered');
    this.store = workStore(served, options);
    this.content = new NamespaceContent(
      registry,
      storage,
      timers,
      (now, signal) => accountContext(this.name, options.names, now, signal),
      options.admission ?? openAdmission,
    );
    partOf(served.definition, 'status');
    partOf(served.definition, 'finalize');
  }

  async run(signal: AbortSignal): Promise<void> {
    const { storage, registry, logger, timers } = this.options;
    const terminating = new Map<string, Terminating>();
    this.terminating = terminating;
    const failed = new AbortController();
    const ended = AbortSignal.any([signal, failed.signal]);
    const queue = new WorkQueue({
      work: (name) => this.process(name, ended),
      onFault: (namespace, error) => logger.warn('a namespace could not be removed yet', { namespace, error }),
      workers: this.options.workers ?? 4,
      firstPauseMs: this.options.firstPauseMs ?? 500,
      longestPauseMs: this.options.longestPauseMs ?? 10_000,
      timers,
    });
    const notice = (object: ApiObject): boolean => {
      const { name = '', uid = '', deletionTimestamp } = object.metadata;
      if (deletionTimestamp === undefined) return false;
      if (terminating.get(name)?.uid !== uid) {
        terminating.set(name, { uid, since: timers.elapsed(), busy: undefined });
        queue.add(name);
      }
      return true;
    };
    const lister = new Lister(storage, registry, resource, notice, (error) =>
      logger.warn('the namespace controller lost its place in the change log', { error }),
    );
    const work = queue.run(ended);
    try {
      // The lister ends with the signal; its unfinished reads need no waiting for.
      await lister.start(ended);
      while (!signal.aborted) {
        await timers.wait(this.options.resyncMs ?? 300_000, signal);
        for (const name of terminating.keys()) queue.add(name);
      }
    } finally {
      failed.abort();
      await work;
    }
  }

  private async process(name: string, signal: AbortSignal): Promise<WorkOutcome> {
    const { timers, settleMs = 3000, logger } = this.options;
    const state = this.terminating.get(name);
    if (state === undefined) return 'done';
    const settlesIn = state.since + settleMs - timers.elapsed();
    if (settlesIn > 0) return settlesIn;
    const namespace = await this.read(name, state.uid);
    if (namespace === undefined || !this.holds(namespace)) {
      // The namespace no longer exists, or other finalizers hold it, which their owners remove.
      this.forget(name, state);
      return 'done';
    }
    try {
      const isCurrent = async () => (await this.read(name, state.uid)) !== undefined;
      const report = await this.content.delete(name, isCurrent, state.busy, signal);
      const remote = await this.deleteRemote(name, isCurrent, signal);
      if (signal.aborted) return 'done';
      await this.writeStatus(name, state.uid, withRemote(report, remote), signal);
      const wasPartial = state.busy !== undefined;
      state.busy = report.resources.size > 0 ? report.resources : undefined;
      const [error] = [...report.errors, ...(remote?.errors ?? [])];
      if (error !== undefined) throw error;
      if (remote !== undefined && remote.discoveryFailures.length > 0) {
        throw new Error(discoveryProblem(remote.discoveryFailures));
      }
      if (report.resources.size > 0 || (remote?.remaining.size ?? 0) > 0) return 'later';
      if (wasPartial) return 0;
      await this.finalize(name, state.uid, signal);
      this.forget(name, state);
      logger.info('the content of a namespace is gone', { namespace: name });
      return 'done';
    } catch (error) {
      const isGone = error instanceof NamespaceGone || (error instanceof StatusError && error.reason === 'NotFound');
      if (!isGone) throw error;
      this.forget(name, state);
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
    return this.options.remoteContent?.delete(name, check, signal);
  }

  private forget(name: string, state: Terminating): void {
    if (this.terminating.get(name) === state) this.terminating.delete(name);
  }

  /** The namespace, if it is still the one that was seen terminating. */
  private async read(name: string, uid: string): Promise<Namespace | undefined> {
    const stored = await this.options.storage.get({ resource, namespace: '', name });
    if (stored === undefined || stored.uid !== uid) return undefined;
    const namespace = parseStored(this.store.resource, stored) as ApiObject as Namespace;
    return namespace.metadata.deletionTimestamp === undefined ? undefined : namespace;
  }

  private holds({ spec }: Namespace): boolean {
    return (spec.finalizers ?? []).includes(this.options.names.namespaceFinalizer);
  }

  private writeStatus(name: string, uid: string, report: ContentReport, signal: AbortSignal): Promise<void> {
    return this.update('status', name, uid, signal, (namespace) => {
      const { conditions = [] } = namespace.status;
      const updated = updateConditions(conditions, report, this.options.timers.now());
      if (updated === conditions && namespace.status.phase === 'Terminating') return namespace;
      return { ...namespace, status: { ...namespace.status, phase: 'Terminating', conditions: [...updated] } };
    });
  }

  private finalize(name: string, uid: string, signal: AbortSignal): Promise<void> {
    return this.update('finalize', name, uid, signal, (namespace) => {
      const { finalizers = [], ...spec } = namespace.spec;
      const kept = finalizers.filter((finalizer) => finalizer !== this.options.names.namespaceFinalizer);
      return { ...namespace, spec: kept.length === 0 ? spec : { ...spec, finalizers: kept } };
    });
  }

  private async update(
    path: 'status' | 'finalize',
    name: string,
    uid: string,
    signal: AbortSignal,
    change: (namespace: Namespace) => Namespace,
  ): Promise<void> {
    const context = accountContext(this.name, this.options.names, this.options.timers.now(), signal);
    await this.store.update(context, '', name, {
      subresource: partOf(this.store.resource.definition, path),
      transform: (live) => {
        if (live?.metadata.uid !== uid || live.metadata.deletionTimestamp === undefined) throw new NamespaceGone();
        return change(cloneJson(live) as ApiObject as Namespace) as ApiObject;
      },
    });
  }
}

/** What is left here and on extension servers. */
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
