import { groupName, type VendorNames } from '../../../../base/machinery/vendor.js';
import { allow, type RoleData } from './role-data.js';

/** The ClusterRoles for requesting and approving certificates, by signer. */
export function certificateRoles(names: VendorNames): readonly RoleData[] {
  const certificates = groupName('certificates', names);
  return [
    {
      name: `system:${certificates}:certificatesigningrequests:nodeclient`,
      rules: [allow('create', 'certificates', 'certificatesigningrequests/nodeclient')],
    },
    {
      name: `system:${certificates}:certificatesigningrequests:selfnodeclient`,
      rules: [allow('create', 'certificates', 'certificatesigningrequests/selfnodeclient')],
    },
    {
      name: `system:${certificates}:kube-apiserver-client-approver`,
      rules: [allow('approve', 'certificates', 'signers', names.apiserverClientSigner)],
    },
    {
      name: `system:${certificates}:kube-apiserver-client-kubelet-approver`,
      rules: [allow('approve', 'certificates', 'signers', names.nodeClientSigner)],
    },
    {
      name: `system:${certificates}:kubelet-serving-approver`,
      rules: [allow('approve', 'certificates', 'signers', names.nodeServingSigner)],
    },
    {
      name: `system:${certificates}:legacy-unknown-approver`,
      rules: [allow('approve', 'certificates', 'signers', names.legacyUnknownSigner)],
    },
  ];
}
