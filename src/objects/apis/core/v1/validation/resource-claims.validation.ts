import {
  duplicate,
  type FieldError,
  type FieldPath,
  notFound,
  required,
} from '../../../../../base/machinery/field-error.js';
import { isDns1123Label } from '../../../../../base/machinery/names.js';
import type { Container } from '../container.types.js';
import { checkText } from './common.validation.js';

/** Validates the claims of a container or pod: each occurs once and is one of `ofPod`, the names of the pod's claims. */
export function validateResourceClaims(
  claims: Container['resources']['claims'],
  ofPod: readonly string[],
  path: FieldPath,
  errors: FieldError[],
): void {
  const seen = new Set<string>();
  claims?.forEach(({ name, request }, i) => {
    const at = path.index(i);
    if (name === '') {
      errors.push(required(at));
      return;
    }
    if (seen.has(name)) errors.push(duplicate(at, name));
    else {
      if (request) checkText(request, isDns1123Label, at.child('request'), errors);
      const claim = request ? `${name}/${request}` : name;
      const overlaps = !request && [...seen].some((other) => other.startsWith(`${name}/`));
      if (seen.has(claim) || overlaps) errors.push(duplicate(at, claim));
      seen.add(claim);
    }
    if (ofPod.includes(name)) return;
    const choice = ofPod.length === 0 ? ' which is empty' : `: ${ofPod.join(', ')}`;
    errors.push(notFound(at, name, `must be one of the names in pod.spec.resourceClaims${choice}`));
  });
}
