import { privilegedGroup } from '../../../base/machinery/authorizer.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import type { CertificateRequest } from '../../../base/machinery/x509/certificate-request.js';

/** Returns why a signer does not sign a request; undefined if it signs. */
export type SignerRule = (request: CertificateRequest, usages: readonly string[]) => string | undefined;

const nodesGroup = 'system:nodes';
const nodeUserPrefix = 'system:node:';

/** The rules of the built-in signers (specification 2.7), by signer name. */
export function signerRules(names: VendorNames): ReadonlyMap<string, SignerRule> {
  const rules: readonly (readonly [string, SignerRule])[] = [
    [names.apiserverClientSigner, apiserverClientProblem],
    [names.nodeClientSigner, nodeClientProblem],
    [names.nodeServingSigner, nodeServingProblem],
    [names.legacyUnknownSigner, () => undefined],
  ];
  return new Map(
    rules.map(([name, rule]) => [name, (request, usages) => groupProblem(request) ?? rule(request, usages)]),
  );
}

/**
 * Refuses the privileged group for every signer: admission checks one signer only, a request may be older than that
 * check, and all signers may share one authority.
 */
function groupProblem({ organizations }: CertificateRequest): string | undefined {
  return organizations.includes(privilegedGroup) ? `nobody signs for the group ${privilegedGroup}` : undefined;
}

const clientUsages = ['digital signature', 'key encipherment', 'client auth'];

function apiserverClientProblem(_request: CertificateRequest, usages: readonly string[]): string | undefined {
  if (!usages.includes('client auth')) return 'usages must include "client auth"';
  const others = usages.filter((usage) => !clientUsages.includes(usage));
  return others.length === 0 ? undefined : `usages may only be ${list(clientUsages)}`;
}

/** The reason why a request is not for the client certificate of a node agent. */
export function nodeClientProblem(request: CertificateRequest, usages: readonly string[]): string | undefined {
  const { dnsNames, ipAddresses, emailAddresses, uris, otherNames } = request;
  if (dnsNames.length + ipAddresses.length + emailAddresses.length + uris.length + otherNames > 0) {
    return 'subject alternative names are not allowed';
  }
  return nodeSubjectProblem(request) ?? nodeUsagesProblem(request, usages, ['client auth']);
}

function nodeServingProblem(request: CertificateRequest, usages: readonly string[]): string | undefined {
  const { dnsNames, ipAddresses, emailAddresses, uris } = request;
  if (emailAddresses.length > 0) return 'email addresses are not allowed as subject alternative names';
  if (uris.length > 0) return 'URIs are not allowed as subject alternative names';
  if (dnsNames.length + ipAddresses.length === 0) return 'a DNS name or an IP address is needed as alternative name';
  // The specification names "client auth" for this signer, but node agents ask for "server auth". Either is accepted,
  // but not both.
  return nodeSubjectProblem(request) ?? nodeUsagesProblem(request, usages, ['client auth', 'server auth']);
}

function nodeSubjectProblem({ organizations, commonName }: CertificateRequest): string | undefined {
  if (organizations.length !== 1 || organizations[0] !== nodesGroup) return `the organization must be ${nodesGroup}`;
  return commonName.startsWith(nodeUserPrefix) ? undefined : `the common name must begin with ${nodeUserPrefix}`;
}

function nodeUsagesProblem(
  { keyType }: CertificateRequest,
  usages: readonly string[],
  purposes: readonly string[],
): string | undefined {
  const given = new Set(usages);
  const found = purposes.filter((purpose) => given.has(purpose));
  // Only RSA keys can encipher, so agents with other keys omit that usage.
  const isComplete = given.has('digital signature') && (given.has('key encipherment') || keyType !== 'rsa');
  const size = 2 + Number(given.has('key encipherment'));
  if (isComplete && found.length === 1 && given.size === size) return undefined;
  return `usages must be exactly "key encipherment", "digital signature" and ${purposes.map((p) => `"${p}"`).join(' or ')}`;
}

function list(usages: readonly string[]): string {
  return usages.map((usage) => JSON.stringify(usage)).join(', ');
}
