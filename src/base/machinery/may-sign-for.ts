import type { Authorizer } from './authorizer.js';
import type { UserInfo } from './request-context.js';
import { groupName, type VendorNames } from './vendor.js';

/**
 * Whether a user may `approve`, `sign` or `attest` for a signer: the verb must be allowed on `signers` named `<domain>/<path>` or
 * `<domain>/*` (specification 5.4.6).
 */
export async function maySignFor(
  authorizer: Authorizer,
  names: VendorNames,
  user: UserInfo,
  verb: 'approve' | 'sign' | 'attest',
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
