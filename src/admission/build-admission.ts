import type { AdmissionOptions, AdmissionPluginName } from '../config/admission.options.js';
import { selectedAdmissionPlugins } from '../config/admission.options.js';
import type { Authorizer } from '../machinery/authorizer.js';
import type { VendorNames } from '../machinery/vendor.js';
import type { NamespaceLister } from '../registry/informers/namespace-lister.js';
import type { ObjectReader } from '../registry/store/object-reader.js';
import type { AdmissionPlugin } from './admission-plugin.js';
import { AdmissionChain } from './chain.js';
import { CertificateApproval } from './plugins/certificate-approval/certificate-approval.js';
import { CertificateSigning } from './plugins/certificate-signing/certificate-signing.js';
import { CertificateSubjectRestriction } from './plugins/certificate-subject-restriction/certificate-subject-restriction.js';
import { NamespaceLifecycle } from './plugins/namespace-lifecycle/namespace-lifecycle.js';
import { NodeRestriction } from './plugins/node-restriction/node-restriction.js';

/** What the plugins need to decide. */
export interface AdmissionParts {
  readonly names: VendorNames;
  readonly authorizer: Authorizer;
  readonly namespaces: Pick<NamespaceLister, 'state'>;
  readonly objects: ObjectReader;
}

const plugins: Readonly<Record<AdmissionPluginName, (parts: AdmissionParts) => AdmissionPlugin>> = {
  NamespaceLifecycle: ({ namespaces, names }) => new NamespaceLifecycle(namespaces, names),
  NodeRestriction: ({ names, objects }) => new NodeRestriction(names, objects),
  CertificateApproval: ({ authorizer, names }) => new CertificateApproval(authorizer, names),
  CertificateSigning: ({ authorizer, names }) => new CertificateSigning(authorizer, names),
  CertificateSubjectRestriction: ({ names }) => new CertificateSubjectRestriction(names),
};

/** The plugins that the options select, in their fixed order (specification 5.5). */
export function buildAdmission(options: AdmissionOptions, parts: AdmissionParts): AdmissionChain {
  return new AdmissionChain(selectedAdmissionPlugins(options).map((name) => plugins[name](parts)));
}
