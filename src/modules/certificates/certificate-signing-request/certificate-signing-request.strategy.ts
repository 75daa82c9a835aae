import { type Clock, formatTime } from '../../../base/machinery/clock.js';
import type { UserInfo } from '../../../base/machinery/request-context.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import { parseCertificateRequest } from '../../../base/machinery/x509/certificate-request.js';
import { CertificateRequestError } from '../../../base/machinery/x509/certificate-request-error.js';
import type {
  CertificateSigningRequest,
  CertificateSigningRequestSpec,
} from '../../../objects/apis/certificates/v1/certificate-signing-request.types.js';

/** Records the sender; what the body states about the sender is ignored. Changes `spec`. */
export function recordRequester(spec: CertificateSigningRequestSpec, user: UserInfo | undefined): void {
  delete spec.username;
  delete spec.uid;
  delete spec.groups;
  delete spec.extra;
  if (user === undefined) return;
  if (user.name !== '') spec.username = user.name;
  if (user.uid !== '') spec.uid = user.uid;
  if (user.groups.length > 0) spec.groups = [...user.groups];
  const extra = Object.entries(user.extra);
  if (extra.length > 0) spec.extra = Object.fromEntries(extra.map(([key, values]) => [key, [...values]]));
}

/**
 * Fills in missing times of conditions: updated now, and changed now unless the condition had the same status before.
 * Changes `object`.
 */
export function stampConditions(object: CertificateSigningRequest, old: CertificateSigningRequest, clock: Clock): void {
  const now = formatTime(clock.now());
  for (const condition of object.status.conditions ?? []) {
    condition.lastUpdateTime ??= now;
    if (condition.lastTransitionTime !== null) continue;
    const before = (old.status.conditions ?? []).find(
      (c) => c.type === condition.type && c.status === condition.status,
    );
    condition.lastTransitionTime = before?.lastTransitionTime ?? now;
  }
}

/** Takes over the decisions of the old object, so that an older client's status update can't change them. */
export function keepDecisions(object: CertificateSigningRequest, old: CertificateSigningRequest): void {
  const isDecision = ({ type }: { readonly type: string }) => type === 'Approved' || type === 'Denied';
  const kept = (old.status.conditions ?? []).filter(isDecision);
  const others = (object.status.conditions ?? []).filter((condition) => !isDecision(condition));
  const conditions = [...kept, ...others];
  if (conditions.length > 0) object.status.conditions = conditions;
  else delete object.status.conditions;
}

/**
 * Restores the decisions that a status update changes, as long as it has as many of each type as the old object. Added
 * and removed ones stay for the validation, which refuses them.
 */
export function restoreDecisions(object: CertificateSigningRequest, old: CertificateSigningRequest): void {
  const conditions = object.status.conditions ?? [];
  for (const type of ['Approved', 'Denied']) {
    const places = [...conditions.keys()].filter((i) => conditions[i]?.type === type);
    const before = (old.status.conditions ?? []).filter((condition) => condition.type === type);
    if (places.length !== before.length) continue;
    before.forEach((condition, i) => {
      conditions[places[i] as number] = condition;
    });
  }
}

/** Signer, usages and condition status are optional in v1beta1. Changes `object`. */
export function applyV1beta1Defaults(object: CertificateSigningRequest, names: VendorNames): void {
  const { spec, status } = object;
  if ((spec.usages ?? []).length === 0) spec.usages = ['digital signature', 'key encipherment'];
  spec.signerName ??= guessSigner(spec, names);
  for (const condition of status.conditions ?? []) if (condition.status === '') condition.status = 'True';
}

function guessSigner(spec: CertificateSigningRequestSpec, names: VendorNames): string {
  const common = ['key encipherment', 'digital signature'];
  try {
    const request = parseCertificateRequest(Buffer.from(spec.request ?? '', 'base64'));
    const { commonName, organizations, dnsNames, ipAddresses, emailAddresses, uris } = request;
    const isNode =
      organizations.length === 1 && organizations[0] === 'system:nodes' && commonName.startsWith('system:node:');
    const hasHosts = dnsNames.length > 0 || ipAddresses.length > 0;
    if (isNode && emailAddresses.length === 0 && uris.length === 0) {
      if (!hasHosts && sameSet(spec.usages, [...common, 'client auth'])) return names.nodeClientSigner;
      if (hasHosts && sameSet(spec.usages, [...common, 'server auth'])) return names.nodeServingSigner;
    }
  } catch (error) {
    // Validation reports a request that can't be parsed.
    if (!(error instanceof CertificateRequestError)) throw error;
  }
  return names.legacyUnknownSigner;
}

function sameSet(usages: readonly string[] | undefined, expected: readonly string[]): boolean {
  const given = new Set(usages);
  return given.size === expected.length && expected.every((usage) => given.has(usage));
}
