import assert from 'node:assert/strict';
import { FieldPath } from '../../../../base/machinery/field-error.js';
import { atOnce } from '../../../../base/machinery/turns.js';
import type { JSONSchemaProps, ValidationRule } from '../../../apis/apiextensions/v1/json-schema.types.js';
import { structuralSchema } from '../../structural/index.js';
import { compileRules, definitionRulesErrors, evaluateRules } from '../index.js';

/** A schema as tests write it: with any string as its type. */
export type Props = Omit<JSONSchemaProps, 'type'> & { type?: string };

/** The schema of a string without bounds. */
export const text: Props = { type: 'string' };
/** The schema of an integer. */
export const int: Props = { type: 'integer' };
/** The schema with validation rules; a rule that is a string has nothing but its expression. */
export const withRules = (schema: Props, ...rules: (string | ValidationRule)[]): Props => ({
  ...schema,
  'x-kubernetes-validations': rules.map((rule) => (typeof rule === 'string' ? { rule } : rule)),
});
/** The schema of an object with these properties and rules. */
export const object = (properties: Record<string, Props>, ...rules: (string | ValidationRule)[]): Props =>
  withRules({ type: 'object', properties: properties as Record<string, JSONSchemaProps> }, ...rules);
/** The schema of a list with these items. */
export const list = (items: Props, more: Props = {}): Props => ({
  type: 'array',
  items: items as JSONSchemaProps,
  ...more,
});
/** The schema of a map with these values. */
export const map = (values: Props, more: Props = {}): Props => ({
  type: 'object',
  additionalProperties: values as JSONSchemaProps,
  ...more,
});

/**
 * The reasons to refuse a definition with the schema, as `type field message`; only the first line of long messages.
 */
export function refused(schema: Props): string[] {
  const errors = atOnce(definitionRulesErrors(structuralSchema(schema as JSONSchemaProps), FieldPath.of('s')));
  return errors.map(
    ({ type, field, message }) => `${type.replace('FieldValue', '')} ${field} ${message.split('\n')[0]}`,
  );
}

/** The rules that an object violates, as `type field message`. */
export function violated(schema: Props, value: unknown, old?: unknown): string[] {
  const found = refused(schema);
  assert.deepEqual(found, []);
  const rules = compileRules(structuralSchema(schema as JSONSchemaProps));
  return evaluateRules(rules, value, old).map(
    ({ type, field, message }) => `${type.replace('FieldValue', '')} ${field} ${message}`,
  );
}

/** Whether the rule holds for a value of a field `v` with the schema. */
export function holds(schema: Props, rule: string, value: unknown): boolean {
  const found = violated(object({ v: schema }, rule), { v: value });
  assert.ok(found.length === 0 || found[0]?.includes(`failed rule: ${rule}`), found.join('\n'));
  return found.length === 0;
}
