/**
 * The schema of one version of a custom kind: pure functions without I/O (specification 5.9).
 *
 *     const errors = await inTurns(definitionSchemaErrors(props, path)); // when a definition is written
 *     const schema = structuralSchema(props);                         // once per change of the definition
 *     const body = pruned(schema, parsed, { isRoot: true });          // decoding: without unknown fields
 *     const object = withDefaults(schema, body);                      // the same value if nothing is missing
 *     const faults = validateValue(schema, object, undefined, { old }); // the strategy's validation
 *     const published = toOpenApi(props, { version: 3 });              // documents
 */
export type { AllowedValues } from './allowed-values.js';
export { type DefinitionSchemaOptions, definitionSchemaErrors } from './definition-schema-errors.js';
export type { Pattern } from './pattern.js';
export { PatternError } from './pattern-error.js';
export { type PruneOptions, pruned } from './pruned.js';
export {
  hasDefaults,
  type NestedValidation,
  type SchemaTypeName,
  type StructuralSchema,
  structuralSchema,
  structuralSchemaInSteps,
  type ValueValidation,
} from './structural-schema.js';
export { type OpenApiForm, toOpenApi } from './to-open-api.js';
export { TooManyDefaultsError } from './too-many-defaults-error.js';
export { type ValidateOptions, validateValue } from './validate-value.js';
export { fillMarkers } from './vendor-markers.js';
export { withDefaults } from './with-defaults.js';
