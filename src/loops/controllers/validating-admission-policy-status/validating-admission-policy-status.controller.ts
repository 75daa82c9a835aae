import type { ApiObject } from '../../../base/machinery/api-object.js';
import { inTurns } from '../../../base/machinery/turns.js';
import type { ValidatingAdmissionPolicy } from '../../../objects/apis/admissionregistration/v1/validating-admission-policy.types.js';
import { type ReconcileContext, serverUser } from '../frame/reconcile-context.js';
import { type Pauses, ReconcileLoop, type Source, source } from '../frame/reconcile-loop.js';
import type { WorkOutcome } from '../work-queue.js';
import { checkPolicyTypes } from './check-policy-types.js';

type Policy = ValidatingAdmissionPolicy & ApiObject;

/**
 * Records in the status of each ValidatingAdmissionPolicy which of its expressions do not fit the declared kinds, once
 * for every generation (specification 5.10, as in the newest release).
 */
export class ValidatingAdmissionPolicyStatusController extends ReconcileLoop {
  readonly name = 'validatingadmissionpolicy-status-controller';
  protected override readonly workers = 1;
  protected override readonly pauses: Pauses = { firstMs: 500, longestMs: 60_000 };
  private readonly policies = this.informer<Policy>('admissionregistration', 'validatingadmissionpolicies');

  protected override get user() {
    return serverUser;
  }

  protected override get queueName(): string {
    return 'validatingadmissionpolicy-status';
  }

  protected sources(): readonly Source[] {
    return [
      source(this.policies, (policy) =>
        policy !== undefined && isUnchecked(policy) ? [policy.metadata.name ?? ''] : [],
      ),
    ];
  }

  protected async reconcile(name: string, work: ReconcileContext): Promise<WorkOutcome> {
    const policy = this.policies.get('', name);
    if (policy === undefined || !isUnchecked(policy)) return 'done';
    const warnings = await inTurns(checkPolicyTypes(policy.spec, this.dependencies.registry));
    const { generation } = policy.metadata;
    await this.client<Policy>('admissionregistration', 'validatingadmissionpolicies').updateStatus(
      work,
      policy,
      (live) => {
        // A newer state arrives as a change of its own.
        if (live.metadata.generation !== generation || !isUnchecked(live)) return undefined;
        const typeChecking = warnings.length === 0 ? {} : { expressionWarnings: [...warnings] };
        live.status = { ...live.status, observedGeneration: Number(generation), typeChecking };
        return live;
      },
    );
    return 'done';
  }
}

function isUnchecked({ metadata, status }: Policy): boolean {
  return Number(metadata.generation) !== Number(status.observedGeneration);
}
