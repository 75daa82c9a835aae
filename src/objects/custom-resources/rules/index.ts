/**
 * The rules of custom kinds (x-kubernetes-validations), written as expressions (specification 5.9 and 5.10).
 *
 *     const errors = await inTurns(definitionRulesErrors(schema, path)); // when a definition is written
 *     const rules = await inTurns(compileRulesInSteps(schema));          // once per change of the definition
 *     const faults = evaluateRules(rules, object, old);                  // for objects that the schema accepts
 *     const warnings = brokenWhereUnchanged(rules, object, old);         // what an update leaves as it is
 */
export {
  type CompiledRules,
  type CompiledValidationRule,
  compileRules,
  compileRulesInSteps,
} from './compile-rules.js';
export { definitionRulesErrors } from './definition-rules-errors.js';
export { brokenWhereUnchanged, evaluateRules, objectCostLimit } from './evaluate-rules.js';
export { followSchemaPath, type SchemaPath, type SchemaStep } from './schema-path.js';
