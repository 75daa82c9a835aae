import { type FieldError, type FieldPath, invalid, required } from './field-error.js';
import { isDns1123Subdomain } from './names.js';

const pathRegExp = /^[A-Za-z0-9/\-._~%!$&'()*+,;=:]+$/;

/** Violated rules of a name such as `acme.io/foo`, by which a controller recognizes its objects. */
export function validateDomainPrefixedPath(value: string, path: FieldPath): FieldError[] {
  if (value === '') return [required(path)];
  const slash = value.indexOf('/');
  if (slash < 0 || slash === value.length - 1) {
    return [invalid(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  }
  const domain = value.slice(0, slash);
  const errors = isDns1123Subdomain(domain).map((m) => invalid(path, domain, m));
  const rest = value.slice(slash + 1);
  if (!pathRegExp.test(rest)) {
    const rule = "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')";
    errors.push(invalid(path, rest, rule));
  }
  return errors;
}
