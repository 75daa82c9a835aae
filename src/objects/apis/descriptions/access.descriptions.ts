import type { FieldDescriptions } from '../../../base/machinery/schema/index.js';

const user = {
  uid: 'Identity of the user; a later user of the same name has another.',
  groups: 'Groups that the user is in.',
  extra: 'What else is known about the user.',
};
const accessReview = {
  resourceAttributes: 'The action, if it is on a resource.',
  nonResourceAttributes: 'The action, if it is on another path.',
};
const rawSelector = 'Selector in text form; not together with requirements.';
const request = { '': 'The request, and who made it.' };
const requestStatus = { '': 'What became of the request.' };

/** Descriptions of the groups `authentication`, `authorization`, `rbac` and `certificates`. */
export const accessDescriptions: FieldDescriptions = {
  'authentication.BoundObjectReference': {
    '': 'The object that a token ends with.',
    kind: 'Pod, Secret or Node.',
    apiVersion: 'Version of the kind; v1.',
    name: 'Name of the object.',
    uid: 'Identity of the object.',
  },
  'authentication.SelfSubjectReviewStatus': { '': 'Who one is.', userInfo: 'The user as the server sees it.' },
  'authentication.TokenRequestSpec': {
    '': 'What token is wanted.',
    audiences: 'Who is to accept the token; empty is the API server.',
    expirationSeconds: 'How long it should be valid, in seconds; 3600 if not given.',
    boundObjectRef: 'Object whose deletion ends the token.',
    attestations: 'Values by well-known keys that the server is asked to vouch for.',
  },
  'authentication.TokenRequestStatus': {
    '': 'The token.',
    token: 'The token itself: keep it secret.',
    expirationTimestamp: 'When it ends.',
  },
  'authentication.TokenReviewSpec': {
    '': 'The token in question.',
    token: 'The token itself.',
    audiences: 'Who asks; the token must be meant for one of them. Empty is the API server.',
  },
  'authentication.TokenReviewStatus': {
    '': 'Whom the token stands for.',
    authenticated: 'Whether the token is good.',
    user: 'Its user, when it is good.',
    audiences: 'Those asked about that the token is meant for.',
    error: 'Why the check could not be made.',
  },
  'authentication.UserInfo': { '': 'What is known about a user.', username: 'Name of the user.', ...user },
  'authorization.FieldSelectorAttributes': {
    '': 'Field selector of the action.',
    rawSelector,
    requirements: 'Demands on fields, all of which hold.',
  },
  'authorization.LabelSelectorAttributes': {
    '': 'Label selector of the action.',
    rawSelector,
    requirements: 'Demands on labels, all of which hold.',
  },
  'authorization.NonResourceAttributes': {
    '': 'An action on a path that is not a resource.',
    path: 'Path of the URL.',
    verb: 'Method in lower case, such as get.',
  },
  'authorization.NonResourceRule': { '': 'Paths, and what may be done there.' },
  'authorization.ResourceAttributes': {
    '': 'An action on a resource.',
    namespace: 'Namespace of it; empty means all, or none for cluster-wide resources.',
    verb: 'get, list, watch, create, update, patch, delete and so on; * is all.',
    group: 'Group of the resource; * is all.',
    version: 'Version of the group; * is all.',
    resource: 'Plural name of the resource; * is all.',
    subresource: 'Subresource, such as status; empty is the object itself.',
    name: 'Name of the object; empty is all.',
    fieldSelector: 'Narrows it to objects by fields.',
  },
  'authorization.ResourceRule': {
    '': 'Resources, and what may be done with them.',
    resources: 'Plural names, also as pods/log; * is all.',
  },
  'authorization.SelfSubjectAccessReviewSpec': { '': 'The action in question.', ...accessReview },
  'authorization.SelfSubjectRulesReviewSpec': {
    '': 'Where to look.',
    namespace: 'Namespace to list the rules for. Required.',
  },
  'authorization.SubjectAccessReviewSpec': {
    '': 'The action in question, and who would do it.',
    ...accessReview,
    user: 'Name of the user; may be empty when groups are given.',
    ...user,
  },
  'authorization.SubjectAccessReviewStatus': {
    '': 'Whether the action is allowed.',
    allowed: 'Whether the action is allowed.',
    denied: 'Whether it is forbidden outright, whatever other authorizers say.',
    reason: 'Why, for people.',
    evaluationError: 'What went wrong on the way; the answer may hold all the same.',
  },
  'authorization.SubjectRulesReviewStatus': {
    '': 'What one may do.',
    incomplete: 'True when there may be more rules than these.',
    evaluationError: 'Why the list is not complete.',
  },
  'rbac.AggregationRule': { '': 'Makes a role out of others.' },
  'rbac.RoleRef': { '': 'Points to the role that is given. Never changes.' },
  'rbac.Subject': { '': 'A user, a group or a service account.' },
  'certificates.CertificateSigningRequestSpec': request,
  'certificates.CertificateSigningRequestStatus': requestStatus,
  'certificates.ClusterTrustBundleSpec': {
    '': 'The certificates, and whose they are.',
    signerName: 'Signer whose certificates these are; the name of the object begins with it.',
    trustBundle: 'Root certificates in PEM, one after the other. No other blocks.',
  },
  'certificates.PodCertificateRequestSpec': {
    '': 'Asks for a certificate for one pod.',
    signerName: 'Who is to sign.',
    podName: 'Name of the pod.',
    podUID: 'Identity of the pod.',
    serviceAccountName: 'Name of the account that the pod acts as.',
    serviceAccountUID: 'Identity of that account.',
    nodeName: 'Name of the node that the pod is on.',
    nodeUID: 'Identity of that node.',
    maxExpirationSeconds: 'Longest validity, in seconds; 86400 if not given.',
    pkixPublicKey: 'Public key in DER, in base64.',
    proofOfPossession: 'Signature over the uid of the pod, made with the private key.',
    stubPKCS10Request: 'Signed request with the public key and nothing else, in DER.',
    unverifiedUserAnnotations: 'Hints for the signer that nobody has checked.',
  },
  'certificates.PodCertificateRequestStatus': {
    '': 'The certificate, or why there is none.',
    certificateChain: 'The certificate and those above it, in PEM.',
    notBefore: 'When it begins to be valid.',
    beginRefreshAt: 'When to ask for the next one.',
    notAfter: 'When it ends.',
  },
};
