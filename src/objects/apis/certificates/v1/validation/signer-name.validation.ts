import {
  type FieldError,
  type FieldPath,
  invalid,
  required,
  tooLong,
} from '../../../../../base/machinery/field-error.js';
import { isDns1123Label, isDns1123Subdomain, maxSubdomainLength } from '../../../../../base/machinery/names.js';

/** 253 characters for the domain, one for the slash, and 317 for the name after it. */
const maxSignerNameLength = 571;

/** Validates the name of a signer: a domain of two labels or more, a slash, and a name. */
export function validateSignerName(signerName: string, path: FieldPath): FieldError[] {
  if (signerName === '') return [required(path)];
  const [domain = '', name, ...more] = signerName.split('/');
  if (name === undefined || more.length > 0) {
    const detail = "must be a fully qualified domain and path of the form 'example.com/signer-name'";
    return [invalid(path, signerName, detail)];
  }
  const errors: FieldError[] = [];
  if (domain.length > maxSubdomainLength) errors.push(tooLong(path, maxSubdomainLength));
  const labels = domain.split('.');
  for (const label of labels) {
    for (const m of isDns1123Label(label))
      errors.push(invalid(path, domain, `validating label ${JSON.stringify(label)}: ${m}`));
  }
  if (labels.length < 2) {
    errors.push(invalid(path, domain, 'should be a domain with at least two segments separated by dots'));
  }
  for (const label of name.split('.')) {
    for (const m of isDns1123Subdomain(label))
      errors.push(invalid(path, name, `validating label ${JSON.stringify(label)}: ${m}`));
  }
  if (signerName.length > maxSignerNameLength) errors.push(tooLong(path, maxSignerNameLength));
  return errors;
}
