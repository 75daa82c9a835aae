import { isDeepStrictEqual } from 'node:util';
import type { Authorizer } from '../../../../base/machinery/authorizer.js';
import { maySignFor } from '../../../../base/machinery/may-sign-for.js';
import { forbiddenError } from '../../../../base/machinery/status-error.js';
import type { VendorNames } from '../../../../base/machinery/vendor.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes, AdmissionOperation } from '../../attributes.js';
import { isAboutRequests, type SigningRequest } from '../certificate-approval/signer-permission.js';

/** Requires the right `sign` on the signer from users who store a certificate or a condition (specification 5.5). */
export class CertificateSigning implements AdmissionPlugin {
  readonly name = 'CertificateSigning';

  constructor(
    private readonly authorizer: Authorizer,
    private readonly names: VendorNames,
  ) {}

  handles(operation: AdmissionOperation): boolean {
    return operation === 'UPDATE';
  }

  async validate(attributes: AdmissionAttributes): Promise<void> {
    const { storedObject: object, storedOldObject: oldObject } = attributes;
    if (!isAboutRequests(attributes, 'status', this.names) || object === undefined || oldObject === undefined) return;
    const now = (object as unknown as SigningRequest).status;
    const { spec, status: before } = oldObject as unknown as SigningRequest;
    const isSame =
      (now.certificate ?? '') === (before.certificate ?? '') &&
      isDeepStrictEqual(now.conditions ?? [], before.conditions ?? []);
    if (isSame) return;
    if (await maySignFor(this.authorizer, this.names, attributes.userInfo, 'sign', spec.signerName)) return;
    const detail = `user not permitted to sign requests with signerName ${JSON.stringify(spec.signerName)}`;
    throw forbiddenError(attributes.resource, attributes.name, detail);
  }
}
