import { type FieldError, type FieldPath, invalid, required, tooMany } from '../../../base/machinery/field-error.js';
import { isDns1035Label } from '../../../base/machinery/names.js';
import type { CustomResourceDefinitionNames } from '../../../objects/apis/apiextensions/v1/custom-resource-definition.types.js';

/** Errors for missing names that a definition must request; the accepted names may lack some of them. */
export function requiredNamesErrors(names: CustomResourceDefinitionNames, path: FieldPath): FieldError[] {
  const fields = ['plural', 'singular', 'kind', 'listKind'] as const;
  return fields.filter((field) => !names[field]).map((field) => required(path.child(field)));
}

/** The most names in a list: more would not fit into the status, which repeats them. */
const maxNames = 1000;

/** Errors for lists of names that are too long and longer than before. */
export function nameCountErrors(
  names: CustomResourceDefinitionNames,
  old: CustomResourceDefinitionNames | undefined,
  path: FieldPath,
): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ['shortNames', 'categories'] as const) {
    const count = names[field]?.length ?? 0;
    const max = Math.max(maxNames, old?.[field]?.length ?? 0);
    if (count > max) errors.push(tooMany(path.child(field), count, maxNames));
  }
  return errors;
}

/** Validates the given names. */
export function namesErrors(names: CustomResourceDefinitionNames, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ['plural', 'singular'] as const) {
    const name = names[field];
    if (name) checkLabel(name, path.child(field), errors);
  }
  for (const field of ['kind', 'listKind'] as const) {
    const name = names[field];
    const broken = name ? isDns1035Label(name.toLowerCase()) : [];
    if (broken.length === 0) continue;
    const detail = `may have mixed case, but should otherwise match: ${broken.join(',')}`;
    errors.push(invalid(path.child(field), name, detail));
  }
  for (const [i, name] of (names.shortNames ?? []).entries())
    checkLabel(name, path.child('shortNames').index(i), errors);
  if (names.kind !== '' && names.kind === names.listKind) {
    errors.push(invalid(path.child('listKind'), names.listKind, 'kind and listKind may not be the same'));
  }
  for (const [i, name] of (names.categories ?? []).entries()) {
    checkLabel(name, path.child('categories').index(i), errors);
  }
  return errors;
}

function checkLabel(name: string, path: FieldPath, errors: FieldError[]): void {
  const broken = isDns1035Label(name);
  if (broken.length > 0) errors.push(invalid(path, name, broken.join(',')));
}
