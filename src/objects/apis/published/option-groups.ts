/**
 * The group versions of release 1.37, served or not, that define the kinds of request options and of watch events.
 * Groups that carry the vendor's suffix are written without it. The Swagger document lists these group versions at both
 * kinds.
 */
export const optionGroups: Readonly<Record<string, string>> = {
  '': 'v1',
  admission: 'v1 v1beta1',
  admissionregistration: 'v1 v1alpha1 v1beta1',
  apiextensions: 'v1 v1beta1',
  apiregistration: 'v1 v1beta1',
  apps: 'v1 v1beta1 v1beta2',
  authentication: 'v1 v1alpha1 v1beta1',
  authorization: 'v1 v1beta1',
  autoscaling: 'v1 v2',
  batch: 'v1 v1beta1',
  certificates: 'v1 v1alpha1 v1beta1',
  coordination: 'v1 v1alpha2 v1beta1',
  discovery: 'v1 v1beta1',
  events: 'v1 v1beta1',
  extensions: 'v1beta1',
  'flowcontrol.apiserver': 'v1 v1beta1 v1beta2 v1beta3',
  imagepolicy: 'v1alpha1',
  'internal.apiserver': 'v1alpha1',
  lifecycle: 'v1alpha1',
  networking: 'v1 v1beta1',
  node: 'v1 v1alpha1 v1beta1',
  policy: 'v1 v1beta1',
  'rbac.authorization': 'v1 v1alpha1 v1beta1',
  resource: 'v1 v1alpha3 v1beta1 v1beta2',
  scheduling: 'v1 v1alpha3 v1beta1',
  storage: 'v1 v1alpha1 v1beta1',
  storagemigration: 'v1 v1beta1',
};
