import { type FieldError, type FieldPath, invalid } from '../../../base/machinery/field-error.js';
import { isDns1123Subdomain, isQualifiedName } from '../../../base/machinery/names.js';

/** Whether a name is that of an extended resource: one that nodes offer besides the built-in ones. */
export function isExtendedResourceName(name: string): boolean {
  const isNative = !name.includes('/') || name.includes('kubernetes.io/');
  if (isNative || name.startsWith('requests.')) return false;
  return isQualifiedName(`requests.${name}`).length === 0;
}

/** Violated rules of the name of an extended resource that a class of devices offers. */
export function validateExtendedResourceName(name: string, path: FieldPath): FieldError[] {
  const messages: string[] = [];
  if (!name.includes('/')) messages.push("a name must be a domain-prefixed path, such as 'example.com/my-prop'");
  else if (name.includes('kubernetes.io/')) messages.push('must not have "kubernetes.io/" domain');
  if (name.startsWith('requests.')) messages.push('must not have "requests." prefix');
  // An empty domain breaks the rule of domains here, and lengths are counted in bytes.
  const words = (message: string) =>
    message === 'prefix part must be non-empty'
      ? `prefix part ${isDns1123Subdomain('')[0]}`
      : message.replace(/^(prefix part must be no more than \d+) characters$/, '$1 bytes');
  // An empty name is reported as a name without a domain.
  messages.push(...(name === '' ? isQualifiedName(name).slice(1) : isQualifiedName(name)).map(words));
  return messages.map((message) => invalid(path, name, message));
}
