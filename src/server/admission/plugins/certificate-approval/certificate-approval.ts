import type { Authorizer } from '../../../../base/machinery/authorizer.js';
import { maySignFor } from '../../../../base/machinery/may-sign-for.js';
import { forbiddenError } from '../../../../base/machinery/status-error.js';
import type { VendorNames } from '../../../../base/machinery/vendor.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes, AdmissionOperation } from '../../attributes.js';
import { isAboutRequests, type SigningRequest } from './signer-permission.js';

/** Requires the right `approve` on the signer from users who approve or deny a request (specification 5.5). */
export class CertificateApproval implements AdmissionPlugin {
  readonly name = 'CertificateApproval';

  constructor(
    private readonly authorizer: Authorizer,
    private readonly names: VendorNames,
  ) {}

  handles(operation: AdmissionOperation): boolean {
    return operation === 'UPDATE';
  }

  async validate(attributes: AdmissionAttributes): Promise<void> {
    if (!isAboutRequests(attributes, 'approval', this.names) || attributes.storedObject === undefined) return;
    const { signerName } = (attributes.storedObject as unknown as SigningRequest).spec;
    if (await maySignFor(this.authorizer, this.names, attributes.userInfo, 'approve', signerName)) return;
    const detail = `user not permitted to approve requests with signerName ${JSON.stringify(signerName)}`;
    throw forbiddenError(attributes.resource, attributes.name, detail);
  }
}
