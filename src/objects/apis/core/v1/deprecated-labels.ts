import type { VendorNames } from '../../../../base/machinery/vendor.js';

interface ReplacedLabel {
  readonly label: string;
  /** The release that deprecated the old one. */
  readonly since: string;
}

/** What a deprecated node label was replaced by; undefined for other labels. */
export function replacementOf(
  key: string,
  { labelPrefix }: Pick<VendorNames, 'labelPrefix'>,
): ReplacedLabel | undefined {
  switch (key) {
    case `beta.${labelPrefix}/arch`:
      return { label: `${labelPrefix}/arch`, since: 'v1.14' };
    case `beta.${labelPrefix}/os`:
      return { label: `${labelPrefix}/os`, since: 'v1.14' };
    case `failure-domain.beta.${labelPrefix}/region`:
      return { label: `topology.${labelPrefix}/region`, since: 'v1.17' };
    case `failure-domain.beta.${labelPrefix}/zone`:
      return { label: `topology.${labelPrefix}/zone`, since: 'v1.17' };
    case `beta.${labelPrefix}/instance-type`:
      return { label: `node.${labelPrefix}/instance-type`, since: 'v1.17' };
  }
  return undefined;
}

/** The current name of a deprecated node label, as text for a warning; undefined for other labels. */
export function deprecatedNodeLabel(key: string, names: Pick<VendorNames, 'labelPrefix'>): string | undefined {
  const replaced = replacementOf(key, names);
  return replaced && `deprecated since ${replaced.since}; use "${replaced.label}" instead`;
}
