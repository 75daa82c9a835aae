import type { Authorizer } from '../../../base/machinery/authorizer.js';
import type { Clock } from '../../../base/machinery/clock.js';
import { FieldPath, forbidden, invalid } from '../../../base/machinery/field-error.js';
import { maySignFor } from '../../../base/machinery/may-sign-for.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import type { RequestContext, UserInfo } from '../../../base/machinery/request-context.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import { podCertificateRequest as podCertificateRequestV1 } from '../../../objects/apis/certificates/v1/pod-certificate-request.types.js';
import {
  type PodCertificateRequest,
  podCertificateRequest,
} from '../../../objects/apis/certificates/v1beta1/pod-certificate-request.types.js';
import { nameColumn } from '../../../objects/registry/definition/default-columns.js';
import { clientMetadata, keepField, keepMetadata } from '../../../objects/registry/definition/parent-subresources.js';
import { asVersion } from '../../../objects/registry/definition/served-version.js';
import {
  defineResource,
  type ResourceDefinition,
  type TableColumn,
} from '../../../objects/registry/resource-definition.js';
import type { PartSubresource } from '../../../objects/registry/subresource-definition.js';
import { validatePodCertificateRequest } from './pod-certificate-request.validation.js';
import { outcomeOf, validateRequestStatus } from './request-status.validation.js';

const specPath = FieldPath.of('spec');
const standardLifetime = 24 * 60 * 60;

type Request = PodCertificateRequest;

const columns: readonly TableColumn<Request>[] = [
  nameColumn,
  { name: 'PodName', type: 'string', description: 'The pod.', cell: ({ spec }) => spec.podName },
  {
    name: 'ServiceAccountName',
    type: 'string',
    description: 'Account of the pod.',
    cell: ({ spec }) => spec.serviceAccountName,
  },
  { name: 'NodeName', type: 'string', description: 'Node of the pod.', cell: ({ spec }) => spec.nodeName },
  { name: 'SignerName', type: 'string', description: 'Who is to sign.', cell: ({ spec }) => spec.signerName },
  {
    name: 'State',
    type: 'string',
    description: 'Whether it was decided, and how.',
    cell: ({ status }) => outcomeOf(status.conditions) ?? 'Pending',
  },
  {
    name: 'UnverifiedUserAnnotations',
    type: 'string',
    description: 'What the pod wants the signer to know.',
    cell: ({ spec }) => annotationsText(spec.unverifiedUserAnnotations),
  },
];

/**
 * `podcertificaterequests`: ask for certificates for pods. They are stored as v1beta1, which has fields that v1 lacks:
 * a key with a signature instead of a request.
 */
export function podCertificateRequestResource(
  names: VendorNames,
  clock: Clock,
  authorizer: Authorizer,
): ResourceDefinition {
  const signers = new SignerCheck(names, authorizer);
  return defineResource<Request>({
    group: groupName('certificates', names),
    resource: 'podcertificaterequests',
    singular: 'podcertificaterequest',
    kind: 'PodCertificateRequest',
    namespaced: true,
    versions: [
      { version: 'v1beta1', type: podCertificateRequest, isOffByDefault: true },
      {
        version: 'v1',
        type: podCertificateRequestV1,
        toStored: (object) => asVersion(podCertificateRequest, object),
        fromStored: (object) => asVersion(podCertificateRequestV1, object),
        applyDefaults: (object) => applyDefaults(object as unknown as Request),
      },
    ],
    strategyOptions: { allowUnconditionalUpdate: false },
    strategy: {
      applyDefaults,
      authorizeWrite: (context, object, old) => signers.check(context, object, old),
      prepareForCreate: (_context, object) => {
        object.status = {};
      },
      validate: (_context, { spec }) => validatePodCertificateRequest(spec, names.signerPrefix),
      validateUpdate: (_context, { spec }, { spec: old }) =>
        deepEqual(spec, old) ? [] : [invalid(specPath, spec, 'field is immutable')],
    },
    selectableFieldNames: ['spec.signerName', 'spec.podName', 'spec.nodeName'],
    hidesNamespace: true,
    selectableFields: ({ spec: { signerName, podName, nodeName } }) => ({
      'spec.signerName': signerName,
      'spec.podName': podName,
      'spec.nodeName': nodeName,
    }),
    columns,
    subresources: [status(signers, clock)],
  });
}

function annotationsText(annotations: Readonly<Record<string, string>> = {}): string {
  const pairs = Object.entries(annotations).map(([key, value]) => `${key}=${value}`);
  return pairs.sort().join(',') || '<none>';
}

function applyDefaults({ spec }: Request): void {
  spec.maxExpirationSeconds ??= standardLifetime;
}

function status(signers: SignerCheck, clock: Clock): PartSubresource {
  return {
    type: 'part',
    name: 'status',
    verbs: ['get', 'patch', 'update'],
    resetFields: { 'f:metadata': {}, 'f:spec': {} },
    prepareForUpdate: (_context, object, old) => {
      keepField(object, old, 'spec');
      keepMetadata(object, old, clientMetadata);
    },
    validateUpdate: (_context, object, old) => {
      const [request, before] = [object, old] as unknown as [Request, Request];
      const errors = validateRequestStatus(request, before, clock.now());
      const isDecided = errors.length === 0 && !deepEqual(request.status, before.status);
      return isDecided ? signers.refusal(object) : errors;
    },
  };
}

/** Checks whether users who decide requests may sign for the signer of the request. */
class SignerCheck {
  private readonly refused = new WeakMap<object, string>();

  constructor(
    private readonly names: VendorNames,
    private readonly authorizer: Authorizer,
  ) {}

  async check({ user, requestInfo }: RequestContext, object: Request, old: Request | undefined): Promise<void> {
    if (old === undefined || user === undefined || requestInfo.subresource !== 'status') return;
    const { signerName } = old.spec;
    if (await maySignFor(this.authorizer, this.names, user as UserInfo, 'sign', signerName)) return;
    const detail = `User ${JSON.stringify(user.name)} is not permitted to "sign" for signer ${JSON.stringify(signerName)}`;
    this.refused.set(object, detail);
  }

  refusal(object: object) {
    const detail = this.refused.get(object);
    return detail === undefined ? [] : [forbidden(specPath.child('signerName'), detail)];
  }
}
