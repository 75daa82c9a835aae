import { groupName, type VendorNames } from '../../../../base/machinery/vendor.js';

const resource = 'certificatesigningrequests';

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
