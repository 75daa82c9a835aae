import { type FieldError, type FieldPath, forbidden, notSupported } from '../../../../../base/machinery/field-error.js';

const accessModes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];

/** Validates the access modes of a volume. */
export function checkAccessModes(modes: readonly string[], path: FieldPath, errors: FieldError[]): void {
  for (const mode of modes) if (!accessModes.includes(mode)) errors.push(notSupported(path, mode, accessModes));
  if (modes.includes('ReadWriteOncePod') && modes.some((mode) => mode !== 'ReadWriteOncePod')) {
    errors.push(forbidden(path, 'may not use ReadWriteOncePod with other access modes'));
  }
}
