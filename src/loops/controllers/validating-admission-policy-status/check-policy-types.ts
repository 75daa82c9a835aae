import { FieldPath } from '../../../base/machinery/field-error.js';
import { parseApiVersion } from '../../../base/machinery/group-version.js';
import type { Steps } from '../../../base/machinery/turns.js';
import type { ParamKind } from '../../../objects/apis/admissionregistration/v1/admission-policy-param.types.js';
import type {
  ExpressionWarning,
  ValidatingAdmissionPolicySpec,
} from '../../../objects/apis/admissionregistration/v1/validating-admission-policy.types.js';
import {
  CelCompileError,
  type CelEnvironment,
  type CelType,
  compileProgram,
  policyEnvironmentInSteps,
  types,
} from '../../../objects/cel/index.js';
import type { ResourceRegistry } from '../../../objects/registry/resource-registry.js';
import { declaredType } from './declared-types.js';

type Spec = ValidatingAdmissionPolicySpec;
type Kinds = Pick<ResourceRegistry, 'findServed' | 'resourcesOf'>;

/** The most kinds that a policy is checked against (specification 5.10, as the newest release has it). */
const maxKinds = 10;
/** The most combinations of group, version and resource that are looked up for that. */
const maxLookUps = 10_000;
/** The most characters of all warnings together; nobody reads more, and the status has to fit into an object. */
const maxWarningText = 64 * 1024;

/** A kind that a policy applies to. */
interface MatchedKind {
  /** The name of the kind in warnings. */
  readonly name: string;
  readonly type: CelType;
}

interface Checked {
  readonly path: FieldPath;
  readonly text: string;
  readonly where: 'full' | 'messages' | 'conditions';
  readonly results: readonly CelType[];
}

/**
 * Compares the expressions of a policy with the declared fields of the kinds that its rules name. A warning has one
 * line or more for each kind under which the expression is wrong. Rules with wildcards name no kinds, and subresources
 * are not checked.
 */
export function* checkPolicyTypes(spec: Spec, registry: Kinds): Steps<ExpressionWarning[]> {
  const kinds = yield* matchedKinds(spec, registry);
  if (kinds.length === 0) return [];
  const params = paramType(spec.paramKind, registry);
  const expressions = [...expressionsOf(spec)];
  const faults = new Map<string, string[]>();
  const note = (path: FieldPath, { name }: MatchedKind, fault: string): void => {
    const at = path.toString();
    const text = `${name}: ${fault}\n`;
    const before = faults.get(at);
    if (before === undefined) faults.set(at, [text]);
    else before.push(text);
  };
  for (const kind of kinds) {
    const environment = yield* policyEnvironmentInSteps(spec.variables ?? [], {
      hasParams: spec.paramKind !== undefined,
      object: kind.type,
      params,
    });
    for (const [i, variable] of environment.variables.entries()) {
      if ('fault' in variable) note(variablePath(i), kind, withoutPrefix(variable.fault));
    }
    for (const { path, text, where, results } of expressions) {
      const fault = faultOf(text, environment[where], results);
      if (fault !== undefined) note(path, kind, fault);
      yield;
    }
  }
  const paths = [...(spec.variables ?? []).map((_, i) => variablePath(i)), ...expressions.map(({ path }) => path)];
  return bounded(paths.map(String), faults);
}

function bounded(paths: readonly string[], faults: ReadonlyMap<string, readonly string[]>): ExpressionWarning[] {
  const warnings: ExpressionWarning[] = [];
  let left = maxWarningText;
  for (const fieldRef of paths) {
    const texts = faults.get(fieldRef);
    if (texts === undefined) continue;
    const warning = texts.join('');
    left -= fieldRef.length + warning.length;
    if (left < 0) break;
    warnings.push({ fieldRef, warning });
  }
  return warnings;
}

const specPath = FieldPath.of('spec');

function variablePath(i: number): FieldPath {
  return specPath.child('variables').index(i).child('expression');
}

/** All expressions but those of variables. */
function* expressionsOf({ matchConditions, validations, auditAnnotations }: Spec): Generator<Checked> {
  const { bool, string } = types;
  for (const [i, { expression }] of (matchConditions ?? []).entries()) {
    const path = specPath.child('matchConditions').index(i).child('expression');
    yield { path, text: expression, where: 'conditions', results: [bool] };
  }
  for (const [i, { expression, messageExpression = '' }] of (validations ?? []).entries()) {
    const path = specPath.child('validations').index(i);
    yield { path: path.child('expression'), text: expression, where: 'full', results: [bool] };
    if (messageExpression === '') continue;
    yield { path: path.child('messageExpression'), text: messageExpression, where: 'messages', results: [string] };
  }
  for (const [i, { valueExpression }] of (auditAnnotations ?? []).entries()) {
    const path = specPath.child('auditAnnotations').index(i).child('valueExpression');
    yield { path, text: valueExpression, where: 'full', results: [string, types.null] };
  }
}

function faultOf(text: string, environment: CelEnvironment, results: readonly CelType[]): string | undefined {
  try {
    compileProgram(text, environment, { results });
    return undefined;
  } catch (error) {
    if (!(error instanceof CelCompileError)) throw error;
    return error.message;
  }
}

function withoutPrefix(fault: string): string {
  return fault.replace(/^compilation failed: /, '');
}

function* matchedKinds({ matchConstraints }: Spec, registry: Kinds): Steps<MatchedKind[]> {
  const found = new Map<string, MatchedKind>();
  let lookUps = 0;
  for (const rule of matchConstraints?.resourceRules ?? []) {
    const resources = concrete(rule.resources).filter((resource) => !resource.includes('/'));
    for (const group of concrete(rule.apiGroups)) {
      for (const version of concrete(rule.apiVersions)) {
        for (const resource of resources) {
          if (found.size === maxKinds || lookUps++ === maxLookUps) return sorted(found);
          const served = registry.findServed(group, version, resource);
          if (served === undefined) continue;
          const name = `${group}/${version}, Kind=${served.definition.kind}`;
          found.set(name, { name, type: declaredType(served.served.type) });
        }
        yield;
      }
    }
  }
  return sorted(found);
}

function sorted(kinds: ReadonlyMap<string, MatchedKind>): MatchedKind[] {
  return [...kinds.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function concrete(names: readonly string[] | null | undefined): readonly string[] {
  return (names ?? []).filter((name) => !name.includes('*'));
}

/** The type of `params`; unknown if the kind is. */
function paramType(kind: ParamKind | undefined, registry: Kinds): CelType {
  const version = kind && parseApiVersion(kind.apiVersion ?? '');
  const resources = version === undefined ? [] : registry.resourcesOf(version.group, version.version);
  const found = resources.find(({ definition }) => definition.kind === kind?.kind);
  return found === undefined ? types.dyn : declaredType(found.served.type);
}
