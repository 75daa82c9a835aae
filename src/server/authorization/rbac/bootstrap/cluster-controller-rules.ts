import type { VendorNames } from '../../../../base/machinery/vendor.js';
import { allow, type RuleData, read, writeEvents } from './role-data.js';

/** The rules of the controllers of the cluster as a whole: accounts, certificates, namespaces, policies, quotas. */
export function clusterControllerRules(names: VendorNames): Readonly<Record<string, readonly RuleData[]>> {
  return {
    'certificate-controller': [
      allow('delete get list watch', 'certificates', 'certificatesigningrequests'),
      allow('update', 'certificates', 'certificatesigningrequests/approval certificatesigningrequests/status'),
      allow('approve', 'certificates', 'signers', names.nodeClientSigner),
      allow(
        'sign',
        'certificates',
        'signers',
        `${names.apiserverClientSigner} ${names.nodeClientSigner} ${names.nodeServingSigner} ${names.legacyUnknownSigner}`,
      ),
      allow('create', 'authorization', 'subjectaccessreviews'),
      writeEvents,
    ],
    'clusterrole-aggregation-controller': [allow('escalate get list patch update watch', 'rbac', 'clusterroles')],
    'generic-garbage-collector': [allow('delete get list patch update watch', '*', '*'), writeEvents],
    'kube-apiserver-serving-clustertrustbundle-publisher': [
      allow('attest', 'certificates', 'signers', `${names.labelPrefix}/kube-apiserver-serving`),
      allow('create delete list update watch', 'certificates', 'clustertrustbundles'),
      writeEvents,
    ],
    'legacy-service-account-token-cleaner': [
      allow('get', 'core', 'configmaps', 'kube-apiserver-legacy-service-account-token-tracking'),
      allow('delete patch', 'core', 'secrets'),
    ],
    'namespace-controller': [
      allow('delete get list watch', 'core', 'namespaces'),
      allow('update', 'core', 'namespaces/finalize namespaces/status'),
      allow('delete deletecollection get list watch', '*', '*'),
    ],
    podcertificaterequestcleaner: [allow('delete get list watch', 'certificates', 'podcertificaterequests')],
    'resourcequota-controller': [
      allow('list watch', '*', '*'),
      allow('update', 'core', 'resourcequotas/status'),
      writeEvents,
    ],
    'root-ca-cert-publisher': [allow('create update', 'core', 'configmaps'), writeEvents],
    'service-account-controller': [allow('create', 'core', 'serviceaccounts'), writeEvents],
    'storage-version-migrator-controller': [
      allow('list patch', '*', '*'),
      allow('get', 'apiextensions', 'customresourcedefinitions'),
      allow('patch', 'apiextensions', 'customresourcedefinitions/status'),
      allow('update', 'storagemigration', 'storageversionmigrations/status'),
    ],
    'validatingadmissionpolicy-status-controller': [
      allow(read, 'admissionregistration', 'validatingadmissionpolicies'),
      allow('get patch update', 'admissionregistration', 'validatingadmissionpolicies/status'),
      writeEvents,
    ],
  };
}
