import { CelError } from '../cel-error.js';
import type { LibraryBuilder } from '../function-table.js';
import { opaque, types } from '../values/cel-type.js';
import { OpaqueValue } from '../values/value.js';

const { bool, string } = types;

/** The name of a type as messages show it. */
function nameOf(type: string): string {
  return `kubernetes.authorization.${type}`;
}

const authorizerType = opaque(nameOf('Authorizer'));
const pathCheckType = opaque(nameOf('PathCheck'));
const groupCheckType = opaque(nameOf('GroupCheck'));
const resourceCheckType = opaque(nameOf('ResourceCheck'));
const decisionType = opaque(nameOf('Decision'));

/** Declared type of the variable `authorizer`. */
export const authorizerVariable = authorizerType;
/** Declared type of the variable `authorizer.requestResource`, a check of the requested resource. */
export const resourceCheckVariable = resourceCheckType;

/** One check by the authorizer. */
export interface AuthorizationCheck {
  /** Name of another service account to check; unset: the user of the request. */
  readonly serviceAccount: { readonly namespace: string; readonly name: string } | undefined;
  readonly path: string;
  readonly isResourceRequest: boolean;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly fieldSelector: string;
  readonly labelSelector: string;
  readonly verb: string;
}

/** The result of a check. */
export interface AuthorizationAnswer {
  readonly allowed: boolean;
  readonly reason: string;
  /** Why there is no result; empty if there is one. */
  readonly error: string;
}

/** Runs checks for expressions. Throws to interrupt an evaluation that must be repeated with the result. */
export interface AnswerSource {
  answer(check: AuthorizationCheck): AuthorizationAnswer;
}

const nothing: AuthorizationCheck = Object.freeze({
  serviceAccount: undefined,
  path: '',
  isResourceRequest: false,
  group: '',
  resource: '',
  subresource: '',
  namespace: '',
  name: '',
  fieldSelector: '',
  labelSelector: '',
  verb: '',
});

class CheckValue extends OpaqueValue {
  constructor(
    readonly typeName: string,
    readonly source: AnswerSource,
    readonly check: AuthorizationCheck,
  ) {
    super();
  }

  with(more: Partial<AuthorizationCheck>, typeName = this.typeName): CheckValue {
    return new CheckValue(typeName, this.source, { ...this.check, ...more });
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof CheckValue && JSON.stringify(other.check) === JSON.stringify(this.check);
  }
}

class DecisionValue extends OpaqueValue {
  readonly typeName = nameOf('Decision');

  constructor(readonly decision: AuthorizationAnswer) {
    super();
  }

  equals(other: OpaqueValue): boolean {
    return other instanceof DecisionValue && JSON.stringify(other.decision) === JSON.stringify(this.decision);
  }
}

/** The value of the variable `authorizer`. */
export function authorizerValue(source: AnswerSource): OpaqueValue {
  return new CheckValue(nameOf('Authorizer'), source, nothing);
}

/** The value of the variable `authorizer.requestResource`. */
export function requestResourceValue(
  source: AnswerSource,
  of: Pick<AuthorizationCheck, 'group' | 'resource' | 'subresource' | 'namespace' | 'name'>,
): OpaqueValue {
  return new CheckValue(nameOf('ResourceCheck'), source, { ...nothing, isResourceRequest: true, ...of });
}

/** The cost of a check, as the reference counts it. */
const checkCost = 350_000;

/** Methods of the variable `authorizer`. */
export function authorizers(library: LibraryBuilder): void {
  const set = (name: 'subresource' | 'namespace' | 'name' | 'fieldSelector' | 'labelSelector') =>
    library.method(name, [resourceCheckType, string], resourceCheckType, (_, check: CheckValue, value: string) =>
      check.with({ [name]: value }),
    );
  for (const name of ['subresource', 'namespace', 'name', 'fieldSelector', 'labelSelector'] as const) set(name);
  const ask = ({ budget }: { readonly budget: { charge(units: number): void } }, check: CheckValue, verb: string) => {
    budget.charge(checkCost);
    return new DecisionValue(check.source.answer({ ...check.check, verb }));
  };
  library
    .method('path', [authorizerType, string], pathCheckType, (_, authorizer: CheckValue, path: string) => {
      if (path === '') throw new CelError('path must not be empty');
      return authorizer.with({ path }, nameOf('PathCheck'));
    })
    .method('group', [authorizerType, string], groupCheckType, (_, authorizer: CheckValue, group: string) =>
      authorizer.with({ group }, nameOf('GroupCheck')),
    )
    .method(
      'serviceAccount',
      [authorizerType, string, string],
      authorizerType,
      (_, authorizer: CheckValue, namespace: string, name: string) =>
        authorizer.with({ serviceAccount: { namespace, name } }),
    )
    .method('resource', [groupCheckType, string], resourceCheckType, (_, check: CheckValue, resource: string) =>
      check.with({ resource, isResourceRequest: true }, nameOf('ResourceCheck')),
    )
    .method('check', [pathCheckType, string], decisionType, ask)
    .method('check', [resourceCheckType, string], decisionType, ask)
    .method('allowed', [decisionType], bool, (_, { decision }: DecisionValue) => decision.allowed)
    .method('reason', [decisionType], string, (_, { decision }: DecisionValue) => decision.reason)
    .method('errored', [decisionType], bool, (_, { decision }: DecisionValue) => decision.error !== '')
    .method('error', [decisionType], string, (_, { decision }: DecisionValue) => decision.error);
}
