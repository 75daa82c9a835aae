import {
  type FieldError,
  type FieldPath,
  invalid,
  required,
  tooLong,
  tooLongText,
} from '../../../base/machinery/field-error.js';
import { isAnyCaseDns1123Subdomain, isDns1123Label, isDns1123Subdomain } from '../../../base/machinery/names.js';
import { validateCsiDriverName } from '../../../objects/apis/storage/v1/validation/csi-driver-name.validation.js';
import { declared } from './declared.js';

const maxDriverLength = 63;
const maxPoolNameLength = 253;
/** The longest name of an attribute or capacity, without its domain. */
const maxIdentifierLength = 32;
/** The longest name of an attribute or capacity, with its domain. */
export const maxQualifiedNameLength = 63 + 1 + maxIdentifierLength;
const identifierRule =
  "a valid C identifier must start with alphabetic character or '_', followed by a string of alphanumeric characters or '_' (e.g. 'my_name',  or 'MY_NAME',  or 'MyName', regex used for validation is '[A-Za-z_][A-Za-z0-9_]*')";

/** Validates a driver's name by the rules for drivers of volumes. */
export const validateDriverName = validateCsiDriverName;

/** Validates a driver's name where its rules are declared with the type. */
export function validateDeclaredDriverName(name: string, path: FieldPath): FieldError[] {
  if (name === '') return declared([required(path)]);
  const errors = isAnyCaseDns1123Subdomain(name).map((message) => invalid(path, name, message));
  if (name.length > maxDriverLength) errors.push(tooLongText(path, maxDriverLength));
  return declared(errors);
}

/** Validates the name of a device, a request or a counter. */
export function validateDeviceLabel(name: string, path: FieldPath): FieldError[] {
  return isDns1123Label(name).map((message) => invalid(path, name, message));
}

/** Validates a pool's name: subdomains with slashes between them. */
export function validatePoolName(name: string, path: FieldPath): FieldError[] {
  if (name === '') return [required(path)];
  const errors: FieldError[] = [];
  if (name.length > maxPoolNameLength) errors.push(tooLong(path, maxPoolNameLength));
  for (const part of name.split('/')) {
    for (const message of isDns1123Subdomain(part)) errors.push(invalid(path, part, message));
  }
  return errors;
}

/** Validates a pool's name where its rules are declared with the type. */
export function validateDeclaredPoolName(name: string, path: FieldPath): FieldError[] {
  if (name === '') return declared([required(path)]);
  const errors = name.length > maxPoolNameLength ? [tooLong(path, maxPoolNameLength)] : [];
  for (const [i, part] of name.split('/').entries()) {
    for (const message of isDns1123Subdomain(part)) errors.push(invalid(path, part, `segment ${i}: ${message}`));
  }
  return declared(errors);
}

/** Validates the name of an attribute or capacity: an identifier, which may have a domain. */
export function validateQualifiedName(
  name: string,
  path: FieldPath,
  validateDomain: (domain: string, path: FieldPath) => FieldError[] = validateDriverName,
): FieldError[] {
  const parts = name.split('/');
  const [first = '', second = ''] = parts;
  if (parts.length === 1) return validateIdentifier(first, path);
  if (parts.length > 2) return [];
  return [
    ...(first === '' ? [invalid(path, '', 'prefix must not be empty')] : validateDomain(first, path)),
    ...(second === '' ? [invalid(path, '', 'name must not be empty')] : validateIdentifier(second, path)),
  ];
}

/** Validates the name of an attribute in a constraint, which needs its domain. */
export function validateFullyQualifiedName(name: string, path: FieldPath): FieldError[] {
  const errors = validateQualifiedName(name, path, (domain, at) => [
    ...isDns1123Subdomain(domain).map((message) => invalid(at, domain, `prefix: ${message}`)),
    ...(domain.length > maxDriverLength ? [tooLong(at, maxDriverLength)] : []),
  ]);
  if (!name.includes('/')) {
    errors.push(invalid(path, name, 'a fully qualified name must be a domain and a name separated by a slash'));
  }
  return errors;
}

/** Validates the identity of a share of a device. */
export function validateShareId(uid: string, path: FieldPath): FieldError[] {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(uid)) return [];
  return declared([invalid(path, uid, 'must be a lowercase UUID in 8-4-4-4-12 format')]);
}

function validateIdentifier(name: string, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  if (name.length > maxIdentifierLength) errors.push(tooLong(path, maxIdentifierLength));
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) errors.push(invalid(path, name, identifierRule));
  return errors;
}
