import { type AggregatedRole, aggregatedRules, sameRules } from '../../apis/rbac/rules/aggregate-rules.js';
import type { ClusterRole } from '../../apis/rbac/v1/role.types.js';
import type { ApiObject } from '../../machinery/api-object.js';
import { privilegedGroup } from '../../machinery/authorizer.js';
import { formatGroupResource } from '../../machinery/group-version.js';
import { cloneJson } from '../../machinery/json/exact-numbers.js';
import { SelectorError } from '../../machinery/label-selector.js';
import type { RequestContext, UserInfo } from '../../machinery/request-context.js';
import { StatusError } from '../../machinery/status-error.js';
import { groupName, type VendorNames } from '../../machinery/vendor.js';
import type { Logger } from '../../observability/logger.js';
import { Reflector } from '../../registry/informers/reflector.js';
import type { ResourceRegistry } from '../../registry/resource-registry.js';
import type { AdmittedStore, WriteAdmission } from '../../registry/store/admitted-store.js';
import type { Storage } from '../../storage/storage.interface.js';
import type { ControlLoop } from '../control-loop.js';
import type { Timers } from '../timers.js';
import { accountContext } from '../work-context.js';
import { type WorkOutcome, WorkQueue } from '../work-queue.js';
import { workStore } from '../work-store.js';

export interface ClusterRoleAggregationOptions {
  readonly storage: Storage;
  readonly admission?: WriteAdmission | undefined;
  readonly registry: ResourceRegistry;
  readonly names: VendorNames;
  readonly logger: Logger;
  readonly timers: Timers;
  /** First and longest pause between attempts to write a role. Default 500 and 30,000. */
  readonly firstPauseMs?: number | undefined;
  readonly longestPauseMs?: number | undefined;
}

/**
 * Fills the rules of ClusterRoles that have an `aggregationRule` with the rules that their selectors collect
 * (specification 2.10). Rules that clients write there are replaced. A role with the right rules is not written.
 */
export class ClusterRoleAggregationController implements ControlLoop {
  readonly name = 'clusterrole-aggregation-controller';
  private readonly store: AdmittedStore;
  /** Every ClusterRole, reduced to what aggregation needs. */
  private roles = new Map<string, AggregatedRole>();

  /** @throws Error when the registry has no cluster roles. */
  constructor(private readonly options: ClusterRoleAggregationOptions) {
    const { registry, names } = options;
    const served = registry.findStoredResource(groupName('rbac', names), 'v1', 'clusterroles');
    if (served === undefined) throw new Error('the resource clusterroles is not registered');
    this.store = workStore(served, options);
  }

  async run(signal: AbortSignal): Promise<void> {
    const { storage, registry, logger, timers } = this.options;
    this.roles = new Map();
    const failed = new AbortController();
    const ended = AbortSignal.any([signal, failed.signal]);
    const queue = new WorkQueue({
      work: (name) => this.process(name, ended),
      onFault: (clusterRole, error) =>
        logger.warn('a cluster role could not be aggregated yet', { clusterRole, error }),
      workers: 1,
      firstPauseMs: this.options.firstPauseMs ?? 500,
      longestPauseMs: this.options.longestPauseMs ?? 30_000,
      timers,
    });
    const reflector = new Reflector(
      storage,
      registry,
      formatGroupResource(this.store.resource.definition),
      this.sink(queue),
      (error) => logger.warn('cluster role aggregation lost its place in the change log', { error }),
    );
    const work = queue.run(ended);
    try {
      // The reflector ends with the signal.
      await reflector.start(ended);
      await reflector.stopped();
    } finally {
      failed.abort();
      await work;
    }
  }

  /** A changed role may affect any collecting role, so all of them are checked. */
  private sink(queue: WorkQueue) {
    const addAll = () => {
      for (const [name, { aggregationRule }] of this.roles) if (aggregationRule !== undefined) queue.add(name);
    };
    return {
      replace: (objects: readonly ApiObject[]) => {
        this.roles = new Map(objects.map((object) => [object.metadata.name ?? '', reduced(object)]));
        addAll();
      },
      set: (object: ApiObject) => {
        this.roles.set(object.metadata.name ?? '', reduced(object));
        addAll();
      },
      delete: (_namespace: string, name: string) => {
        this.roles.delete(name);
        addAll();
      },
    };
  }

  private async process(name: string, signal: AbortSignal): Promise<WorkOutcome> {
    const role = this.roles.get(name);
    if (role === undefined) return 'done';
    const wanted = this.wantedRules(role);
    if (wanted === undefined || sameRules(role.rules, wanted)) return 'done';
    try {
      await this.store.update(this.request(signal), '', name, {
        transform: (live) => {
          if (live === undefined) throw new RoleGone();
          const current = cloneJson(live) as ApiObject as ClusterRole;
          // The current role decides whether it still collects, and what.
          const rules = this.wantedRules(current);
          return (rules === undefined ? current : { ...current, rules }) as ApiObject;
        },
      });
    } catch (error) {
      const isGone = error instanceof RoleGone || (error instanceof StatusError && error.reason === 'NotFound');
      if (!isGone) throw error;
    }
    return 'done';
  }

  private wantedRules(role: AggregatedRole) {
    try {
      return aggregatedRules(role, this.roles.values());
    } catch (error) {
      if (!(error instanceof SelectorError)) throw error;
      // The selector was stored before selectors were validated this way; the role stays unchanged until somebody
      // corrects it.
      this.options.logger.warn('a cluster role has a selector that is not valid', {
        clusterRole: role.metadata.name,
        error,
      });
      return undefined;
    }
  }

  /** Writing rules normally requires holding them; this loop copies rules that others were allowed to write. */
  private request(signal: AbortSignal): RequestContext {
    const context = accountContext(this.name, this.options.names, this.options.timers.now(), signal);
    const user = context.user as UserInfo;
    return { ...context, user: { ...user, groups: [...user.groups, privilegedGroup] } };
  }
}

class RoleGone extends Error {}

function reduced(object: ApiObject): AggregatedRole {
  const { metadata, rules, aggregationRule } = object as ApiObject as ClusterRole;
  const { name, labels } = metadata;
  const kept = { name, ...(labels === undefined ? {} : { labels }) } as ClusterRole['metadata'];
  return { metadata: kept, rules, ...(aggregationRule === undefined ? {} : { aggregationRule }) };
}
