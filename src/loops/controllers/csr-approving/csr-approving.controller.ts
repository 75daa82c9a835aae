import type { Authorizer } from '../../../base/machinery/authorizer.js';
import { type CertificateRequest, parseCertificateRequest } from '../../../base/machinery/x509/certificate-request.js';
import { CertificateRequestError } from '../../../base/machinery/x509/certificate-request-error.js';
import type { CertificateSigningRequest } from '../../../objects/apis/certificates/v1/certificate-signing-request.types.js';
import { CertificateRequestLoop, hasTrueCondition, type StoredRequest } from '../certificate-request-loop.js';
import { nodeClientProblem } from '../csr-signing/signer-rules.js';
import type { ReconcileContext } from '../frame/reconcile-context.js';
import type { ReconcileDependencies } from '../frame/reconcile-loop.js';
import type { WorkOutcome } from '../work-queue.js';

export interface CsrApprovingDependencies extends ReconcileDependencies {
  /** Checks the rights of the users who made the requests. */
  readonly authorizer: Authorizer;
}

/** A kind of request that is approved if the requester may create it on a particular subresource. */
interface Recognizer {
  readonly subresource: string;
  /** The message of the condition, given the name of the node's agent. */
  readonly message: (agent: string) => string;
  readonly recognizes: (request: CertificateRequest, spec: CertificateSigningRequest['spec']) => boolean;
}

const recognizers: readonly Recognizer[] = [
  {
    subresource: 'selfnodeclient',
    message: (agent) => `Auto approving self ${agent} client certificate after SubjectAccessReview.`,
    recognizes: ({ commonName }, { username }) => commonName === username,
  },
  {
    subresource: 'nodeclient',
    message: (agent) => `Auto approving ${agent} client certificate after SubjectAccessReview.`,
    recognizes: () => true,
  },
];

/**
 * Approves node agents' requests for client certificates. The requester needs the right to `create`
 * `certificatesigningrequests/nodeclient`, or `.../selfnodeclient` for a certificate of its own user.
 */
export class CsrApprovingController extends CertificateRequestLoop {
  readonly name = 'certificate-approver';

  /** @throws Error when the registry has no certificate signing requests. */
  constructor(private readonly own: CsrApprovingDependencies) {
    super(own);
  }

  protected concerns(request: CertificateSigningRequest): boolean {
    return (
      request.spec.signerName === this.own.names.nodeClientSigner &&
      (request.status.certificate ?? '') === '' &&
      !hasTrueCondition(request, 'Approved') &&
      !hasTrueCondition(request, 'Denied')
    );
  }

  protected async process(request: StoredRequest, work: ReconcileContext): Promise<WorkOutcome> {
    const asked = parse(request);
    if (asked === undefined || nodeClientProblem(asked, request.spec.usages ?? []) !== undefined) return 'done';
    for (const { recognizes, subresource, message } of recognizers) {
      if (!recognizes(asked, request.spec) || !(await this.mayCreate(request, subresource))) continue;
      const isApproved = await this.changeStatus('approval', request, work, (status) => ({
        ...status,
        conditions: [
          ...(status.conditions ?? []),
          {
            type: 'Approved',
            status: 'True',
            reason: 'AutoApproved',
            message: message(this.own.names.nodeAgent.word),
            lastUpdateTime: null,
            lastTransitionTime: null,
          },
        ],
      }));
      if (isApproved) {
        this.own.logger.info('a certificate request was approved', { request: request.metadata.name, subresource });
      }
      return 'done';
    }
    // The right may be granted later.
    return 'later';
  }

  private async mayCreate({ spec }: CertificateSigningRequest, subresource: string): Promise<boolean> {
    const { username = '', uid = '', groups = [], extra = {} } = spec;
    const { group, resource } = this.requests.resource.definition;
    const { decision } = await this.own.authorizer.authorize({
      user: { name: username, uid, groups, extra: extra as Readonly<Record<string, readonly string[]>> },
      verb: 'create',
      isResourceRequest: true,
      namespace: '',
      apiGroup: group,
      apiVersion: '*',
      resource,
      subresource,
      name: '',
      path: '',
    });
    return decision === 'allow';
  }
}

function parse({ spec }: CertificateSigningRequest): CertificateRequest | undefined {
  try {
    return parseCertificateRequest(Buffer.from(spec.request ?? '', 'base64'));
  } catch (error) {
    if (error instanceof CertificateRequestError) return undefined;
    throw error;
  }
}
