/**
 * The Common Expression Language as the API uses it: match conditions, policies, and rules in configuration.
 *
 * `compileProgram` checks the text of an expression against an environment (declared variables, functions), and the
 * program it returns is evaluated against plain JSON values under a budget. Decision 8 says why the engine is ours.
 */

export { type AdmissionNames, admissionEnvironment } from './admission/admission-environment.js';
export {
  appliedObject,
  mutationFunctions,
  mutationMessages,
  patchOperations,
  toJson,
} from './admission/mutations.js';
export {
  type CompiledText,
  compileText,
  type PolicyEnvironment,
  type PolicyVariable,
  policyEnvironment,
  policyEnvironmentInSteps,
} from './admission/policy-environment.js';
export { Budget, expressionCostLimit, matchConditionsCostLimit, policyCostLimit } from './budget.js';
export { CelCompileError } from './cel-compile-error.js';
export { CelError } from './cel-error.js';
export { CompileWork } from './compile-work.js';
export type { CelEnvironment, MessageType } from './compiler/environment.js';
export { CostLimitExceeded } from './cost-limit-exceeded.js';
export {
  compileDeviceExpression,
  type DeviceInfo as DeviceFacts,
  deviceExpressionCostLimit,
  deviceMatches,
} from './devices/device-expressions.js';
export { type FunctionTable, functionTable, LibraryBuilder } from './function-table.js';
export {
  type AnswerSource,
  type AuthorizationAnswer,
  type AuthorizationCheck,
  authorizerValue,
  authorizerVariable,
  requestResourceValue,
  resourceCheckVariable,
} from './library/authorizers.js';
export { apiFunctions } from './library/index.js';
export { type CompileOptions, compileProgram, type Program, wrongResult } from './program.js';
export { ResultTypeError } from './result-type-error.js';
export { expressionLimits } from './syntax/parser.js';
export {
  type CelType,
  listOf,
  mapOf,
  objectTypeOf,
  opaque,
  optionalOf,
  sized,
  typeName,
  types,
} from './values/cel-type.js';
export { equals } from './values/equality.js';
export { Span, Timestamp } from './values/time.js';
export * from './values/value.js';
