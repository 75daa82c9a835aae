import type { ApiObject } from '../../../base/machinery/api-object.js';
import { SelectorError } from '../../../base/machinery/label-selector.js';
import { aggregatedRules, sameRules } from '../../../objects/apis/rbac/rules/aggregate-rules.js';
import type { ClusterRole } from '../../../objects/apis/rbac/v1/role.types.js';
import { type ReconcileContext, roleAggregationAccount } from '../frame/reconcile-context.js';
import { ReconcileLoop, type Source, source } from '../frame/reconcile-loop.js';
import type { WorkOutcome } from '../work-queue.js';

type StoredRole = ClusterRole & ApiObject;

/**
 * Fills the rules of ClusterRoles that have an `aggregationRule` with the rules that their selectors collect
 * (specification 2.10). Rules that clients write there are replaced. A role with the right rules is not written. The
 * loop may write rules that it does not hold: it copies those that others were allowed to write.
 */
export class ClusterRoleAggregationController extends ReconcileLoop {
  readonly name = roleAggregationAccount;
  protected override readonly workers = 1;
  private readonly roles = this.informer<StoredRole>('rbac', 'clusterroles');

  /** A changed role may affect any collecting role, so all of them are checked. */
  protected sources(): readonly Source[] {
    return [source(this.roles, () => this.collecting())];
  }

  private *collecting(): Generator<string> {
    for (const { metadata, aggregationRule } of this.roles.all()) {
      if (aggregationRule !== undefined) yield metadata.name ?? '';
    }
  }

  protected async reconcile(name: string, work: ReconcileContext): Promise<WorkOutcome> {
    const role = this.roles.get('', name);
    if (role === undefined || this.filled(role) === undefined) return 'done';
    // The live role decides whether it still collects, and what.
    await this.client<StoredRole>('rbac', 'clusterroles').update(work, role, (live) => this.filled(live));
    return 'done';
  }

  /** The role with the rules that it collects; undefined when nothing has to be written. */
  private filled(role: StoredRole): StoredRole | undefined {
    try {
      const rules = aggregatedRules(role, this.roles.all());
      return rules === undefined || sameRules(role.rules, rules) ? undefined : { ...role, rules: [...rules] };
    } catch (error) {
      if (!(error instanceof SelectorError)) throw error;
      // The selector was stored before selectors were validated this way; the role stays unchanged until somebody
      // corrects it.
      this.dependencies.logger.warn('a cluster role has a selector that is not valid', {
        clusterRole: role.metadata.name,
        error,
      });
      return undefined;
    }
  }
}
