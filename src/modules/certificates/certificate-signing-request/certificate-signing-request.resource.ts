import type { ApiObject } from '../../../base/machinery/api-object.js';
import type { Clock } from '../../../base/machinery/clock.js';
import { isPathSegmentName } from '../../../base/machinery/names.js';
import type { RequestContext } from '../../../base/machinery/request-context.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import {
  type CertificateSigningRequest,
  certificateSigningRequest,
} from '../../../objects/apis/certificates/v1/certificate-signing-request.types.js';
import { certificateSigningRequest as certificateSigningRequestV1beta1 } from '../../../objects/apis/certificates/v1beta1/certificate-signing-request.types.js';
import { deprecation } from '../../../objects/registry/definition/served-version.js';
import {
  defineResource,
  type ResourceDefinition,
  type ServedVersion,
} from '../../../objects/registry/resource-definition.js';
import type { PartSubresource } from '../../../objects/registry/subresource-definition.js';
import { certificateSigningRequestColumns } from './certificate-signing-request.columns.js';
import {
  applyV1beta1Defaults,
  keepDecisions,
  recordRequester,
  restoreDecisions,
  stampConditions,
} from './certificate-signing-request.strategy.js';
import { validateCertificateSigningRequest } from './certificate-signing-request.validation.js';
import { validateApproval, validateCertificateStatus } from './certificate-status.validation.js';

/** `certificatesigningrequests`: asks a signer for a certificate. */
export function certificateSigningRequestResource(names: VendorNames, clock: Clock): ResourceDefinition {
  return defineResource<CertificateSigningRequest>({
    group: groupName('certificates', names),
    resource: 'certificatesigningrequests',
    singular: 'certificatesigningrequest',
    kind: 'CertificateSigningRequest',
    namespaced: false,
    shortNames: ['csr'],
    versions: [{ version: 'v1', type: certificateSigningRequest }, betaVersion(names)],
    strategy: {
      validateName: (name) => isPathSegmentName(name),
      prepareForCreate: (context, object) => {
        recordRequester(object.spec, context.user);
        object.status = {};
      },
      validate: (context, object) =>
        validateCertificateSigningRequest(object, {
          refusedSigner: isBeta(context) ? undefined : names.legacyUnknownSigner,
          checkUsages: !isBeta(context),
        }),
      prepareForUpdate: (_context, object, old) => {
        object.spec = old.spec;
      },
    },
    selectableFieldNames: ['spec.signerName'],
    hidesNamespace: true,
    selectableFields: ({ spec }) => ({ 'spec.signerName': spec.signerName }),
    columns: certificateSigningRequestColumns,
    subresources: [approval(clock), status(clock)],
  });
}

function isBeta(context: RequestContext): boolean {
  return context.requestInfo.apiVersion === 'v1beta1';
}

function approval(clock: Clock): PartSubresource {
  return {
    type: 'part',
    name: 'approval',
    verbs: ['get', 'patch', 'update'],
    prepareForUpdate: (_context, object, old) => {
      const changed = object as CertificateSigningRequest;
      const before = old as CertificateSigningRequest;
      changed.spec = before.spec;
      if (before.status.certificate === undefined) delete changed.status.certificate;
      else changed.status.certificate = before.status.certificate;
      stampConditions(changed, before, clock);
    },
    validateUpdate: (_context, object, old) =>
      validateApproval(object as CertificateSigningRequest, old as CertificateSigningRequest),
  };
}

function status(clock: Clock): PartSubresource {
  return {
    type: 'part',
    name: 'status',
    verbs: ['get', 'patch', 'update'],
    resetFields: { 'f:spec': {}, 'f:status': { 'f:conditions': {} } },
    prepareForUpdate: (context, object, old) => {
      const changed = object as CertificateSigningRequest;
      const before = old as CertificateSigningRequest;
      changed.spec = before.spec;
      if (isBeta(context)) keepDecisions(changed, before);
      restoreDecisions(changed, before);
      stampConditions(changed, before, clock);
    },
    validateUpdate: (_context, object, old) =>
      validateCertificateStatus(object as CertificateSigningRequest, old as CertificateSigningRequest),
  };
}

function betaVersion(names: VendorNames): ServedVersion {
  return {
    version: 'v1beta1',
    type: certificateSigningRequestV1beta1,
    applyDefaults: (object: ApiObject) => applyV1beta1Defaults(object as CertificateSigningRequest, names),
    deprecated: deprecation({
      group: groupName('certificates', names),
      version: 'v1beta1',
      kind: 'CertificateSigningRequest',
      since: '1.19',
      removed: '1.22',
      replacement: 'v1',
    }),
  };
}
