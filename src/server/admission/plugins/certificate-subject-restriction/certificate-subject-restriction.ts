import { privilegedGroup } from '../../../../base/machinery/authorizer.js';
import { forbiddenError } from '../../../../base/machinery/status-error.js';
import type { VendorNames } from '../../../../base/machinery/vendor.js';
import { parseCertificateRequest } from '../../../../base/machinery/x509/certificate-request.js';
import { CertificateRequestError } from '../../../../base/machinery/x509/certificate-request-error.js';
import type { AdmissionPlugin } from '../../admission-plugin.js';
import type { AdmissionAttributes, AdmissionOperation } from '../../attributes.js';
import { isAboutRequests, type SigningRequest } from '../certificate-approval/signer-permission.js';

/** Refuses client certificates for `system:masters`, the group that may do everything (specification 5.5). */
export class CertificateSubjectRestriction implements AdmissionPlugin {
  readonly name = 'CertificateSubjectRestriction';

  constructor(private readonly names: VendorNames) {}

  handles(operation: AdmissionOperation): boolean {
    return operation === 'CREATE';
  }

  async validate(attributes: AdmissionAttributes): Promise<void> {
    if (!isAboutRequests(attributes, '', this.names) || attributes.storedObject === undefined) return;
    const { signerName, request } = (attributes.storedObject as unknown as SigningRequest).spec;
    if (signerName !== this.names.apiserverClientSigner) return;
    const refuse = (detail: string) => forbiddenError(attributes.resource, attributes.name, detail);
    let organizations: readonly string[];
    try {
      organizations = parseCertificateRequest(Buffer.from(request ?? '', 'base64')).organizations;
    } catch (error) {
      if (!(error instanceof CertificateRequestError)) throw error;
      throw refuse(`failed to parse CSR: ${error.message}`);
    }
    if (organizations.includes(privilegedGroup)) {
      throw refuse(`use of ${signerName} signer with ${privilegedGroup} group is not allowed`);
    }
  }
}
