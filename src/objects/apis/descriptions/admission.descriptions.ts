import type { FieldDescriptions } from '../../../base/machinery/schema/index.js';

const webhook = { '': 'A server that is asked about writes.' };
const policyBindingSpec = {
  '': 'Which policy is used where, and with what parameters.',
  policyName: 'Name of the policy. Without such a policy the binding does nothing.',
  paramRef: 'Objects with the parameters; needed when the policy has a paramKind.',
  matchResources: 'Narrows what the policy is used for; nothing is all that the policy matches.',
};

/** Descriptions of the groups `admission` and `admissionregistration`. */
export const admissionDescriptions: FieldDescriptions = {
  'admission.AdmissionRequest': {
    '': 'The write that a webhook is asked about.',
    uid: 'Identifies this question; the answer repeats it.',
    kind: 'Kind of the object as it is sent to the webhook.',
    resource: 'Resource as it is sent to the webhook.',
    subResource: 'Subresource written to, such as status; empty for the object itself.',
    requestKind: 'Kind that the client sent, before any conversion.',
    requestResource: 'Resource that the client wrote to, before any conversion.',
    requestSubResource: 'Subresource that the client wrote to.',
    name: 'Name of the object; may be empty when the server is to make one.',
    namespace: 'Namespace of the object; empty for cluster-wide ones.',
    operation: 'What is done: CREATE, UPDATE, DELETE or CONNECT.',
    userInfo: 'Who asks for the write.',
    object: 'The object as it would be stored; none for DELETE.',
    oldObject: 'The object as it is stored now; for UPDATE and DELETE.',
    dryRun: 'True when nothing will be stored, so nothing else should change either.',
    options: 'Options of the write, such as CreateOptions.',
  },
  'admission.AdmissionResponse': {
    '': 'What a webhook says about a write.',
    uid: 'The uid of the question.',
    allowed: 'Whether the write may go on.',
    status: 'Why the write is refused; unused when it is allowed.',
    patch: 'Changes to the object, in base64.',
    patchType: 'Format of the patch: JSONPatch is the only one.',
    auditAnnotations: 'Added to the audit event, each key after the name of the webhook.',
    warnings: 'Texts that the client gets in Warning headers.',
  },
  'admission.AdmissionReview': {
    request: 'The question, from the server to the webhook.',
    response: 'The answer of the webhook.',
  },
  'admissionregistration.ApplyConfiguration': { '': 'A change written as a configuration to apply.' },
  'admissionregistration.AuditAnnotation': {
    '': 'An annotation that a policy adds to audit events.',
    key: 'Name of the annotation after the slash; unique within the policy.',
    valueExpression: 'CEL expression for the value; null leaves the annotation out.',
  },
  'admissionregistration.ExpressionWarning': {
    '': 'A doubt about the types in one expression.',
    fieldRef: 'Path of the field with the expression.',
    warning: 'What was found, for each kind that was checked.',
  },
  'admissionregistration.JSONPatch': { '': 'A change written as a JSON patch.' },
  'admissionregistration.MatchCondition': { name: 'Identifies the condition in logs and errors; unique in its list.' },
  'admissionregistration.MatchResources': {
    '': 'Which writes are meant.',
    excludeResourceRules: 'Writes that are left out, even when a resource rule fits.',
  },
  'admissionregistration.MutatingAdmissionPolicyBindingSpec': policyBindingSpec,
  'admissionregistration.MutatingAdmissionPolicySpec': {
    '': 'Which writes are changed, and how.',
    paramKind: 'Kind of the objects with parameters; none means no parameters.',
    matchConstraints: 'Writes that the policy is for. Required.',
    variables: 'Named expressions for use in the others; each sees those before it.',
    mutations: 'Changes, made in this order.',
    reinvocationPolicy: 'Whether it runs again after later changes: Never or IfNeeded.',
  },
  'admissionregistration.MutatingWebhook': webhook,
  'admissionregistration.Mutation': {
    '': 'One change to the object.',
    patchType: 'How the change is written: ApplyConfiguration or JSONPatch.',
    applyConfiguration: 'Expression whose result is merged as by server-side apply.',
    jsonPatch: 'Expression whose result is a list of JSON patch steps.',
  },
  'admissionregistration.NamedRuleWithOperations': { '': 'Writes to some resources, or to named objects only.' },
  'admissionregistration.ParamKind': {
    '': 'Kind of the objects that hold parameters.',
    apiVersion: 'Group and version, as in the objects.',
    kind: 'Kind of the objects.',
  },
  'admissionregistration.ParamRef': {
    '': 'Chooses the objects with the parameters, by name or by labels.',
    name: 'Name of the one object; not together with selector.',
    namespace: 'Namespace to look in; if not given, that of the written object.',
    selector: 'Chooses objects by their labels; not together with name.',
    parameterNotFoundAction: 'When none is found: Allow skips the policy, Deny lets it fail.',
  },
  'admissionregistration.Rule': {
    '': 'Resources by group, version and name.',
    resources: 'Plural names, also as pods/log; * stands for all.',
    scope: 'Cluster, Namespaced, or * for both, which is the default.',
  },
  'admissionregistration.RuleWithOperations': {
    '': 'Operations on some resources.',
    operations: 'CREATE, UPDATE, DELETE and CONNECT; * stands for all.',
  },
  'admissionregistration.ServiceReference': {
    '': 'The service that the webhook runs behind.',
    namespace: 'Namespace of the service. Required.',
    name: 'Name of the service. Required.',
    path: 'Path of the URL that requests go to.',
    port: 'Port of the service; 443 if not given.',
  },
  'admissionregistration.TypeChecking': {
    '': 'What checking the types in the expressions found.',
    expressionWarnings: 'Doubts, by expression.',
  },
  'admissionregistration.ValidatingAdmissionPolicyBindingSpec': {
    ...policyBindingSpec,
    validationActions: 'What a failed check leads to: Deny, Warn or Audit. Warn and Deny exclude each other.',
  },
  'admissionregistration.ValidatingAdmissionPolicySpec': {
    '': 'Which writes are checked, and how.',
    paramKind: 'Kind of the objects with parameters; none means no parameters.',
    matchConstraints: 'Writes that the policy is for. Required.',
    validations: 'Checks that a write has to pass.',
    auditAnnotations: 'Annotations for audit events.',
    variables: 'Named expressions for use in the others; each sees those before it.',
  },
  'admissionregistration.ValidatingAdmissionPolicyStatus': {
    '': 'What the server found in the policy.',
    typeChecking: 'Doubts about the types in its expressions.',
  },
  'admissionregistration.ValidatingWebhook': webhook,
  'admissionregistration.Validation': {
    '': 'One check of a policy.',
    message: 'Answer to the client when the check fails.',
    reason: 'Reason in the answer when the check fails; Invalid if not given.',
  },
  'admissionregistration.Variable': {
    '': 'A named expression.',
    name: 'Name, for use as variables.<name>.',
  },
  'admissionregistration.WebhookClientConfig': {
    '': 'How a webhook is reached: by URL or by service.',
    url: 'Address with https; not together with service.',
    service: 'The service it runs behind; not together with url.',
  },
};
