import type { CelEnvironment, MessageType } from '../compiler/environment.js';
import type { FunctionTable } from '../function-table.js';
import { authorizerVariable, resourceCheckVariable } from '../library/authorizers.js';
import { apiFunctions } from '../library/index.js';
import { type CelType, listOf, mapOf, objectTypeOf, types } from '../values/cel-type.js';

const { bool, dyn, string, timestamp } = types;

const groupVersionKind = objectTypeOf('GroupVersionKind', { group: string, version: string, kind: string });
const groupVersionResource = objectTypeOf('GroupVersionResource', { group: string, version: string, resource: string });

/** Type of the variable `request`: the fields of an admission review without the objects. */
const requestType = objectTypeOf('AdmissionRequest', {
  kind: groupVersionKind,
  resource: groupVersionResource,
  subResource: string,
  requestKind: groupVersionKind,
  requestResource: groupVersionResource,
  requestSubResource: string,
  name: string,
  namespace: string,
  operation: string,
  userInfo: objectTypeOf('UserInfo', {
    username: string,
    uid: string,
    groups: listOf(string),
    extra: mapOf(string, listOf(string)),
  }),
  dryRun: bool,
  options: dyn,
});

/** Type of the variable `namespaceObject`. Times are strings, as in the object. */
const namespaceType = objectTypeOf('Namespace', {
  metadata: objectTypeOf('NamespaceMetadata', {
    name: string,
    generateName: string,
    namespace: string,
    labels: mapOf(string, string),
    annotations: mapOf(string, string),
    UID: string,
    creationTimestamp: timestamp,
    deletionGracePeriodSeconds: types.int,
    deletionTimestamp: timestamp,
    generation: types.int,
    resourceVersion: string,
    finalizers: listOf(string),
  }),
  spec: objectTypeOf('NamespaceSpec', { finalizers: listOf(string) }),
  status: objectTypeOf('NamespaceStatus', { phase: string }),
});

/** The names that an admission expression may use. */
export interface AdmissionNames {
  /** Whether the name `params` exists; default: false. */
  readonly hasParams?: boolean;
  /** Whether the name `authorizer` exists; default: true. */
  readonly hasAuthorizer?: boolean;
  /** Types of `variables.<name>`; unset: there is no such name. */
  readonly variables?: ReadonlyMap<string, CelType>;
  /** Type of `object` and `oldObject`; default: unknown. */
  readonly object?: CelType;
  /** Type of `params`; default: unknown. */
  readonly params?: CelType;
  readonly functions?: FunctionTable;
  readonly messages?: (name: string) => MessageType | undefined;
}

/** The environment of expressions about requests: match conditions and policies. */
export function admissionEnvironment(names: AdmissionNames = {}): CelEnvironment {
  const { hasParams = false, hasAuthorizer = true, variables, object = dyn, params = dyn } = names;
  return {
    functions: names.functions ?? apiFunctions,
    ...(names.messages === undefined ? {} : { messages: names.messages }),
    variables: {
      object,
      oldObject: object,
      request: requestType,
      ...(hasAuthorizer ? { authorizer: authorizerVariable, 'authorizer.requestResource': resourceCheckVariable } : {}),
      ...(hasParams ? { params } : {}),
      namespaceObject: namespaceType,
      ...(variables === undefined
        ? {}
        : { variables: { kind: 'object', name: 'Variables', fields: (field) => variables.get(field) } as CelType }),
    },
  };
}
