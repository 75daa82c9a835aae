import type { VendorNames } from '../../../../base/machinery/vendor.js';

/** The current name of a deprecated node label, as text for a warning; undefined for other labels. */
export function deprecatedNodeLabel(
  key: string,
  { labelPrefix }: Pick<VendorNames, 'labelPrefix'>,
): string | undefined {
  const since = (release: string, label: string) => `deprecated since ${release}; use "${label}" instead`;
  switch (key) {
    case `beta.${labelPrefix}/arch`:
      return since('v1.14', `${labelPrefix}/arch`);
    case `beta.${labelPrefix}/os`:
      return since('v1.14', `${labelPrefix}/os`);
    case `failure-domain.beta.${labelPrefix}/region`:
      return since('v1.17', `topology.${labelPrefix}/region`);
    case `failure-domain.beta.${labelPrefix}/zone`:
      return since('v1.17', `topology.${labelPrefix}/zone`);
    case `beta.${labelPrefix}/instance-type`:
      return since('v1.17', `node.${labelPrefix}/instance-type`);
  }
  return undefined;
}
