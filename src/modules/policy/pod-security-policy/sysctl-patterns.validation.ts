import { type FieldError, type FieldPath, forbidden, invalid } from '../../../base/machinery/field-error.js';

const maxSysctlLength = 253;
const patternFormat = '([a-z0-9]([-_a-z0-9]*[a-z0-9])?\\.)*([a-z0-9][-_a-z0-9]*)?[a-z0-9*]';
const segmentRegExp = /^[a-z0-9](?:[-_a-z0-9]*[a-z0-9])?$/;
const lastSegmentRegExp = /^(?:[a-z0-9][-_a-z0-9]*)?[a-z0-9*]$/;

/** Validates a list of sysctl names, each exact or ending in `*`. */
export function validateSysctlPatterns(patterns: readonly string[], path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  let hasWildcard = false;
  for (const [i, pattern] of patterns.entries()) {
    if (pattern === '') errors.push(invalid(path.index(i), pattern, 'empty sysctl not allowed'));
    else if (!isSysctlPattern(pattern)) {
      const detail = `must have at most ${maxSysctlLength} characters and match regex ${patternFormat}`;
      errors.push(invalid(path.index(i), pattern, detail));
    } else if (pattern.startsWith('*')) hasWildcard = true;
  }
  if (hasWildcard && patterns.length > 1) {
    errors.push(forbidden(path.child('items'), "if '*' is present, must not specify other sysctls"));
  }
  return errors;
}

/** Refuses names that are both allowed and forbidden. */
export function validateSysctlOverlaps(
  allowedPath: FieldPath,
  forbiddenPath: FieldPath,
  allowed: readonly string[],
  denied: readonly string[],
): FieldError[] {
  const errors: FieldError[] = [];
  for (const [i, pattern] of allowed.entries()) {
    for (const [j, other] of denied.entries()) {
      if (covers(other, pattern)) errors.push(invalid(allowedPath.index(i), pattern, `sysctl overlaps with ${other}`));
      else if (covers(pattern, other)) {
        errors.push(invalid(forbiddenPath.index(j), other, `sysctl overlaps with ${pattern}`));
      }
    }
  }
  return errors;
}

function isSysctlPattern(text: string): boolean {
  if (text.length > maxSysctlLength) return false;
  const segments = text.split('.');
  const last = segments.pop() as string;
  return segments.every((segment) => segmentRegExp.test(segment)) && lastSegmentRegExp.test(last);
}

function covers(pattern: string, other: string): boolean {
  return pattern.endsWith('*') ? other.startsWith(pattern.slice(0, -1)) : pattern === other;
}
