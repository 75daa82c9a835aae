import type { PluginConfiguration } from '../../../../base/config/admission-configuration.js';
import { type FieldError, FieldPath } from '../../../../base/machinery/field-error.js';
import { DecodeError, decode, list } from '../../../../base/machinery/schema/index.js';
import type { VendorNames } from '../../../../base/machinery/vendor.js';
import { type Toleration, toleration } from '../../../../objects/apis/core/v1/affinity.types.js';
import { validateTolerations } from '../../../../objects/apis/core/v1/validation/scheduling.validation.js';
import { type Fields, StrictFields } from '../../configuration/strict-fields.js';

/** Tolerations for namespaces that have none of their own. */
export interface ClusterTolerations {
  readonly default: readonly Toleration[];
  /** The allowed tolerations; if empty, all are allowed. */
  readonly whitelist: readonly Toleration[];
}

/** Reads the configuration; all its problems are in `problems`. */
export function readClusterTolerations(
  { value, source }: Pick<PluginConfiguration, 'value' | 'source'>,
  names: VendorNames,
): { readonly tolerations: ClusterTolerations; readonly problems: readonly string[] } {
  const fields = new StrictFields(source);
  const document = fields.object(value, '', ['apiVersion', 'kind', 'default', 'whitelist']);
  const version = `podtolerationrestriction.admission.${names.suffix}/v1alpha1`;
  if (document.kind !== 'Configuration') fields.report('kind must be Configuration');
  if (document.apiVersion !== version) fields.report(`apiVersion must be ${version}`);
  const tolerations = {
    default: readTolerations(fields, document, 'default'),
    whitelist: readTolerations(fields, document, 'whitelist'),
  };
  return { tolerations, problems: fields.problems };
}

const tolerationFields = ['key', 'operator', 'value', 'effect', 'tolerationSeconds'];

function readTolerations(fields: StrictFields, document: Fields, name: 'default' | 'whitelist'): Toleration[] {
  const given = document[name] ?? [];
  if (!Array.isArray(given)) {
    fields.report(`${name} must be a list`);
    return [];
  }
  const before = fields.problems.length;
  const read = given.map((each: unknown, i) => {
    const at = `${name}[${i}]`;
    const entry = fields.object(each, at, tolerationFields);
    const texts = ['key', 'operator', 'value', 'effect'].flatMap((field) => {
      const text = fields.text(entry, field, at);
      return text === '' ? [] : [[field, text] as const];
    });
    const seconds =
      entry.tolerationSeconds === undefined
        ? {}
        : { tolerationSeconds: fields.integer(entry, 'tolerationSeconds', at, 0) };
    return { ...Object.fromEntries(texts), ...seconds } as Toleration;
  });
  // A configuration with fields of wrong types is not checked any further.
  if (fields.problems.length > before) return read;
  const errors: FieldError[] = [];
  validateTolerations(read, FieldPath.of(name), errors);
  for (const { field, message } of errors) fields.report(`${field}: ${message}`);
  return read;
}

const annotationValue = list(toleration);

/** Reads an annotation with a JSON list of tolerations; undefined when its value is something else. */
export function parseTolerations(text: string): readonly Toleration[] | undefined {
  if (text === '') return [];
  try {
    return decode(annotationValue, JSON.parse(text)).value;
  } catch (error) {
    if (error instanceof DecodeError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
