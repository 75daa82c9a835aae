import { isQualifiedName } from '../../../base/machinery/names.js';

/** Whether a name is that of an extended resource: one that nodes offer besides the built-in ones. */
export function isExtendedResourceName(name: string): boolean {
  const isNative = !name.includes('/') || name.includes('kubernetes.io/');
  if (isNative || name.startsWith('requests.')) return false;
  return isQualifiedName(`requests.${name}`).length === 0;
}
