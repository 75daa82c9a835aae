import { atOnce, type Steps } from '../../../base/machinery/turns.js';
import type { ValidationRule } from '../../apis/apiextensions/v1/json-schema.types.js';
import {
  apiFunctions,
  CelCompileError,
  type CelEnvironment,
  type CelType,
  type CompileWork,
  compileProgram,
  optionalOf,
  type Program,
  ResultTypeError,
  types,
} from '../../cel/index.js';
import type { StructuralSchema } from '../structural/index.js';
import { namedType } from './named-type.js';
import { type RuleType, ruleType } from './rule-type.js';
import { followSchemaPath, type SchemaStep } from './schema-path.js';

/** A compiled rule, or the reason why it could not be compiled. */
export interface CompiledValidationRule {
  readonly source: ValidationRule;
  readonly program: Program | undefined;
  /** Why there is no program. */
  readonly fault: string | undefined;
  readonly message: Program | undefined;
  readonly messageFault: string | undefined;
  /** Where a violation is reported, below the value that the rule is about. */
  readonly place: readonly SchemaStep[];
  /** Whether the rule compares with the value before an update. */
  readonly isTransition: boolean;
  /** Whether `oldSelf` is an optional value, so the rule also holds without an old value. */
  readonly hasOptionalOld: boolean;
}

/** The rules of a part of a schema, and of what is below it. Immutable. */
export interface CompiledRules {
  readonly schema: StructuralSchema;
  readonly rules: readonly CompiledValidationRule[];
  /** The type of the values as the rules see them; undefined when there are no rules here. */
  readonly type: RuleType | undefined;
  readonly properties: ReadonlyMap<string, CompiledRules>;
  readonly entries: CompiledRules | undefined;
  readonly items: CompiledRules | undefined;
  /** Whether a rule here or below compares with the old value. */
  readonly hasTransitions: boolean;
}

/**
 * Compiles the rules of a version, all at once. Undefined when it has none. See {@link compileRulesInSteps}.
 *
 * @throws {CompileWorkExceeded} when the given work is used up.
 */
export function compileRules(schema: StructuralSchema, work?: CompileWork): CompiledRules | undefined {
  return atOnce(compileRulesInSteps(schema, work));
}

/**
 * Compiles the rules of a version, at most one in each step. A rule with a fault is part of the result: the fault is
 * reported when the definition is written, and for every object if such a definition exists anyway.
 *
 * @throws {CompileWorkExceeded} when the given work is used up.
 */
export function* compileRulesInSteps(schema: StructuralSchema, work?: CompileWork): Steps<CompiledRules | undefined> {
  return yield* compilePart(schema, true, work);
}

function* compilePart(
  schema: StructuralSchema,
  isObject: boolean,
  work: CompileWork | undefined,
): Steps<CompiledRules | undefined> {
  yield;
  const rules: CompiledValidationRule[] = [];
  const type = schema.xValidations.length === 0 ? undefined : ruleType(schema, isObject || schema.xEmbedded);
  for (const source of schema.xValidations) {
    rules.push(compileRule(source, schema, type, work));
    yield;
  }
  const properties = new Map<string, CompiledRules>();
  for (const [name, property] of schema.properties) {
    const below = yield* compilePart(property, false, work);
    if (below !== undefined) properties.set(name, below);
  }
  const { items: item, additionalProperties: entry } = schema;
  const items = item === undefined ? undefined : yield* compilePart(item, false, work);
  const entries = typeof entry === 'object' ? yield* compilePart(entry, false, work) : undefined;
  if (rules.length === 0 && properties.size === 0 && items === undefined && entries === undefined) return undefined;
  const below = [...properties.values(), items, entries];
  const hasTransitions = rules.some((rule) => rule.isTransition) || below.some((part) => part?.hasTransitions === true);
  return { schema, rules, type, properties, entries, items, hasTransitions };
}

function compileRule(
  source: ValidationRule,
  schema: StructuralSchema,
  type: RuleType | undefined,
  work: CompileWork | undefined,
): CompiledValidationRule {
  const hasOptionalOld = source.optionalOldSelf === true;
  const place = placeOf(source, schema);
  const common = { source, place, hasOptionalOld };
  if (type === undefined) {
    const fault = 'rules are not possible where the schema does not say the type of the values';
    return { ...common, program: undefined, fault, message: undefined, messageFault: undefined, isTransition: false };
  }
  const self = namedType(type.cel, 'selfType1');
  const environment: CelEnvironment = {
    variables: { self, oldSelf: hasOptionalOld ? optionalOf(self) : self },
    functions: apiFunctions,
    declared: self,
  };
  const compiled = compileText(source.rule, environment, types.bool, 'cel expression must evaluate to a bool', work);
  const message = source.messageExpression
    ? compileText(
        source.messageExpression,
        environment,
        types.string,
        'messageExpression must evaluate to a string',
        work,
      )
    : undefined;
  return {
    ...common,
    program: compiled.program,
    fault: compiled.fault,
    message: message?.program,
    messageFault: message?.fault?.replace(/^compilation failed/, 'messageExpression compilation failed'),
    isTransition: compiled.program?.variables.has('oldSelf') === true,
  };
}

function placeOf({ fieldPath }: ValidationRule, schema: StructuralSchema): readonly SchemaStep[] {
  if (!fieldPath) return [];
  const found = followSchemaPath(fieldPath.trim(), schema, true);
  return 'fault' in found ? [] : found.steps;
}

interface CompiledText {
  readonly program: Program | undefined;
  readonly fault: string | undefined;
}

function compileText(
  text: string,
  environment: CelEnvironment,
  result: CelType,
  wrongResult: string,
  work: CompileWork | undefined,
): CompiledText {
  try {
    // No limit here: the caller knows how often a rule is evaluated, and checks the highest cost.
    const costLimit = Number.POSITIVE_INFINITY;
    return { program: compileProgram(text, environment, { results: [result], work, costLimit }), fault: undefined };
  } catch (error) {
    if (error instanceof ResultTypeError) return { program: undefined, fault: wrongResult };
    if (!(error instanceof CelCompileError)) throw error;
    return { program: undefined, fault: `compilation failed: ${error.message}` };
  }
}
