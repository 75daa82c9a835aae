import type { Authorizer } from '../../../../base/machinery/authorizer.js';
import type { UserInfo } from '../../../../base/machinery/request-context.js';
import { groupName, type VendorNames } from '../../../../base/machinery/vendor.js';

const resource = 'certificatesigningrequests';

/**
 * Whether a user may `approve` or `sign` for a signer: the verb must be allowed on `signers` named `<domain>/<path>` or
 * `<domain>/*` (specification 5.4.6).
 */
export async function maySignFor(
  authorizer: Authorizer,
  names: VendorNames,
  user: UserInfo,
  verb: 'approve' | 'sign',
  signerName: string,
): Promise<boolean> {
  const domain = signerName.split('/', 1)[0] ?? '';
  for (const name of [signerName, `${domain}/*`]) {
    const { decision } = await authorizer.authorize({
      user,
      verb,
      isResourceRequest: true,
      namespace: '',
      apiGroup: groupName('certificates', names),
      apiVersion: '*',
      resource: 'signers',
      subresource: '',
      name,
      path: '',
    });
    if (decision === 'allow') return true;
  }
  return false;
}

/** Whether a request is for certificate signing requests, under the given subresource. */
export function isAboutRequests(
  {
    resource: asked,
    subresource,
  }: { readonly resource: { readonly group: string; readonly resource: string }; readonly subresource: string },
  path: string,
  names: VendorNames,
): boolean {
  return asked.resource === resource && asked.group === groupName('certificates', names) && subresource === path;
}

/** The fields of a certificate signing request that the plugins read. */
export interface SigningRequest {
  readonly spec: { readonly request?: string | null; readonly signerName: string };
  readonly status: { readonly certificate?: string | null; readonly conditions?: readonly unknown[] };
}
