import { type Toleration, toleration } from '../../../apis/core/v1/affinity.types.js';
import { DecodeError, decode, list, optional, string, struct } from '../../../machinery/schema/index.js';
import type { VendorNames } from '../../../machinery/vendor.js';

/** Tolerations for namespaces that say nothing themselves. */
export interface ClusterTolerations {
  readonly default: readonly Toleration[];
  /** Empty: everything is allowed. */
  readonly whitelist: readonly Toleration[];
}

const configuration = struct('PodTolerationRestrictionConfiguration', {
  apiVersion: optional(1, string),
  kind: optional(2, string),
  default: optional(3, list(toleration)),
  whitelist: optional(4, list(toleration)),
});

/** Reads the configuration; all its problems are in `problems`. */
export function readClusterTolerations(
  input: unknown,
  names: VendorNames,
): { readonly tolerations: ClusterTolerations; readonly problems: readonly string[] } {
  const nothing = { default: [], whitelist: [] };
  try {
    const { value, unknownFields } = decode(configuration, input);
    const problems = unknownFields.map((field) => `${field}: unknown field`);
    const version = `podtolerationrestriction.admission.${names.suffix}/v1alpha1`;
    if (value.kind !== 'Configuration') problems.push('kind: must be Configuration');
    if (value.apiVersion !== version) problems.push(`apiVersion: must be ${version}`);
    return { tolerations: { default: value.default ?? [], whitelist: value.whitelist ?? [] }, problems };
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
    return { tolerations: nothing, problems: [error.message] };
  }
}

const annotationValue = list(toleration);

/** Reads an annotation with a JSON list of tolerations; undefined when it is something else. */
export function parseTolerations(text: string): readonly Toleration[] | undefined {
  if (text === '') return [];
  try {
    return decode(annotationValue, JSON.parse(text)).value;
  } catch (error) {
    if (error instanceof DecodeError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
