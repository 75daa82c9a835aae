import {
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notSupported,
} from '../../../../../base/machinery/field-error.js';
import { compareQuantities } from '../../../../../base/machinery/values/quantity.js';
import { isHugePages } from '../huge-pages.js';
import { isPodLevelResource, limitsOfContainers, requestsOfContainers } from '../pod-level-resources.js';
import type { PodSpec } from '../pod-spec.types.js';
import type { PodValidationOptions } from './common.validation.js';
import { validateResourceClaims } from './resource-claims.validation.js';
import { checkResourceName, validateResourceRequirements } from './resources.validation.js';

/** Validates the resources that the containers of a pod share. */
export function validatePodResources(
  spec: PodSpec,
  path: FieldPath,
  options: PodValidationOptions,
  errors: FieldError[],
): void {
  const { resources } = spec;
  if (resources === undefined) return;
  const { claims = [] } = resources;
  if (claims.length > 0) {
    errors.push(forbidden(path.child('claims'), 'claims may not be set for Resources at pod-level'));
  }
  validateResourceRequirements(resources, path, options, errors, (name, at, _names, found) => {
    const before = found.length;
    checkResourceName(name, at, found);
    const isKnown = found.length === before;
    if (isKnown && !isPodLevelResource(name)) found.push(notSupported(at, name, ['cpu', 'hugepages-', 'memory']));
  });
  const known = (spec.resourceClaims ?? []).map(({ name }) => name);
  validateResourceClaims(claims, known, path.child('claims'), errors);
  checkAgainstContainers(spec, path, errors);
}

/**
 * Checks that the containers together do not request more than the pod, and that none has a higher limit than the pod.
 * Release 1.37 does not compare the limits of init containers either.
 */
function checkAgainstContainers(spec: PodSpec, path: FieldPath, errors: FieldError[]): void {
  const { limits = {}, requests = {} } = spec.resources ?? {};
  const asked = requestsOfContainers(spec);
  for (const [name, amount] of Object.entries(requests)) {
    const sum = asked.get(name);
    if (sum === undefined || compareQuantities(amount, sum) >= 0) continue;
    const detail = `must be greater than or equal to aggregate container requests of ${sum}`;
    errors.push(invalid(path.child('requests').key(name), amount, detail));
  }
  // Huge pages can't be overcommitted, not even by containers together.
  for (const [name, sum] of limitsOfContainers(spec)) {
    const limit = limits[name];
    if (!isHugePages(name) || limit === undefined || compareQuantities(limit, sum) >= 0) continue;
    const detail = `must be greater than or equal to aggregate container limits of ${sum}`;
    errors.push(invalid(path.child('limits').key(name), limit, detail));
  }
  spec.containers?.forEach(({ resources }, i) => {
    for (const [name, limit] of Object.entries(resources.limits ?? {})) {
      const most = limits[name];
      if (most === undefined || compareQuantities(limit, most) <= 0) continue;
      const at = path.child('containers').index(i).key(name).child('limits');
      errors.push(invalid(at, limit, `must be less than or equal to pod limits of ${most}`));
    }
  });
}
