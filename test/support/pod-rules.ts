import { FieldPath } from '../../src/base/machinery/field-error.js';
import { decode } from '../../src/base/machinery/schema/index.js';
import { applyPodSpecDefaults } from '../../src/objects/apis/core/v1/defaults/pod-spec.defaults.js';
import { type PodSpec, podSpec } from '../../src/objects/apis/core/v1/pod-spec.types.js';
import { validatePodSpec } from '../../src/objects/apis/core/v1/validation/pod-spec.validation.js';
import { testNames } from './definition-tester.js';

/** The texts of the naming rules in error messages. */
export const labelRule =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
export const subdomainRule =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
export const underscoreRule =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?(\\._?[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*')";
export const qualifiedRule =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
export const valueRule =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
export const envRule =
  "a valid environment variable name must consist only of printable ASCII characters other than '='";
export const keyRule =
  "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
export const percentRule =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

/** A case of a table: its title, the part of a spec, and the broken rules as `reason | field | message`. */
export type PodCase = readonly [about: string, part: Record<string, unknown>, causes: readonly string[]];

/** A container that breaks no rule. */
export const validContainer = { name: 'c', image: 'img:1' } as const;

/** A pod spec from its JSON form, with defaults. It gets a valid container unless the part has containers. */
export function podSpecOf(part: Record<string, unknown>): PodSpec {
  const spec = decode(podSpec, { containers: [validContainer], ...part }).value;
  applyPodSpecDefaults(spec);
  return spec;
}

/** Broken rules of a pod spec below `spec`, as `reason | field | message`. */
export function judgePodSpec(part: Record<string, unknown>): string[] {
  const errors = validatePodSpec(podSpecOf(part), FieldPath.of('spec'), { names: testNames });
  return errors.map((e) => `${e.type} | ${e.field} | ${e.message}`);
}
