import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Authorizer } from '../../../base/machinery/authorizer.js';
import { FieldPath } from '../../../base/machinery/field-error.js';
import type { RequestContext } from '../../../base/machinery/request-context.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { DeviceClaim } from '../../../objects/apis/resource/v1/device-claim.types.js';
import type { ResourceClaim, ResourceClaimStatus } from '../../../objects/apis/resource/v1/resource-claim.types.js';
import type { ObjectReader } from '../../../objects/registry/store/storage-reader.js';
import { AdminAccess } from '../access/admin-access.js';
import { ClaimStatusAccess } from '../access/claim-status-access.js';
import { LateErrors } from '../access/late-errors.js';

/** The dependencies of the definitions of claims and their templates. */
export interface ClaimContext {
  readonly names: VendorNames;
  readonly authorizer: Authorizer;
  readonly objects: ObjectReader;
}

/** The rules for claims that depend on their namespace and on the user who writes them. */
export class ClaimRules {
  readonly late = new LateErrors();
  private readonly admin: AdminAccess;
  private readonly access: ClaimStatusAccess;

  constructor({ names, authorizer, objects }: ClaimContext) {
    this.admin = new AdminAccess(names, objects);
    this.access = new ClaimStatusAccess(authorizer, names.credentialPrefix);
  }

  /** Records the errors of these rules for the validation of a claim or its status. */
  async authorize(context: RequestContext, claim: ResourceClaim, old: ResourceClaim | undefined): Promise<void> {
    if (old === undefined) await this.authorizeSpec(claim, claim.spec.devices);
    else if (context.requestInfo.subresource === 'status') await this.authorizeStatus(context, claim, old);
  }

  /** Records an error if the namespace of a new claim or template does not allow what it requests. */
  async authorizeSpec(object: object, { requests }: DeviceClaim): Promise<void> {
    const i = (requests ?? []).findIndex(({ exactly }) => exactly?.adminAccess === true);
    if (i < 0) return;
    const path = FieldPath.of('spec', 'devices', 'requests').index(i).child('adminAccess');
    this.late.note(object, await this.admin.check(namespaceOf(object), path));
  }

  private async authorizeStatus(context: RequestContext, claim: ResourceClaim, old: ResourceClaim): Promise<void> {
    const errors = [];
    const i = adminResult(claim.status);
    if (i >= 0 && adminResult(old.status) < 0) {
      const path = FieldPath.of('status', 'allocation', 'devices', 'results').index(i).child('adminAccess');
      errors.push(...(await this.admin.check(namespaceOf(claim), path)));
    }
    errors.push(...(await this.access.check(context, claim.status, old.status)));
    this.late.note(claim, errors);
  }
}

function adminResult({ allocation }: ResourceClaimStatus): number {
  return (allocation?.devices.results ?? []).findIndex(({ adminAccess }) => adminAccess === true);
}

function namespaceOf(object: object): string {
  return (object as ApiObject).metadata.namespace ?? '';
}
