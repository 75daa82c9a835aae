import { type FieldError, type FieldPath, invalid, required, tooMany } from '../../../base/machinery/field-error.js';
import { isDns1035Label } from '../../../base/machinery/names.js';
import type {
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
} from '../../../objects/apis/apiextensions/v1/custom-resource-definition.types.js';
import { selectableFieldsErrors } from './selectable-fields.validation.js';
import { columnErrors, subresourcesErrors } from './subresources.validation.js';
import { type Part, parts, sharedPartsOf, sharedPlaces } from './version-parts.js';
import { versionSchemaErrors } from './version-schemas.validation.js';

const maxWarningLength = 256;
/** Each version has its own OpenAPI documents: thousands of versions would make them very slow for all clients. */
const maxVersions = 100;

/** Validates the versions, except for their shared parts. */
export function versionsErrors(spec: CustomResourceDefinitionSpec, path: FieldPath): FieldError[] {
  const versions = spec.versions ?? [];
  const versionsPath = path.child('versions');
  if (versions.length > maxVersions) return [tooMany(versionsPath, versions.length, maxVersions)];
  const shared = sharedPartsOf(versions);
  const errors: FieldError[] = [];
  for (const [i, { schema }] of versions.entries()) {
    if (schema?.openAPIV3Schema !== undefined) continue;
    const at = versionsPath.index(i).child('schema').child('openAPIV3Schema');
    errors.push(required(at));
  }
  const names = new Set<string>();
  for (const [i, version] of versions.entries()) {
    const at = versionsPath.index(i);
    const broken = isDns1035Label(version.name);
    if (broken.length > 0) errors.push(invalid(at.child('name'), version.name, broken.join(',')));
    names.add(version.name);
    for (const detail of warningRules(version)) {
      errors.push(invalid(at.child('deprecationWarning'), version.deprecationWarning, detail));
    }
    for (const part of parts) {
      if (!shared.has(part)) errors.push(...partErrors(version, part, at.child(part)));
    }
  }
  // Leaves out the schemas: they may be long, and the message is about the versions.
  const shown = versions.map(({ name, served, storage }) => ({ name, served, storage }));
  if (names.size < versions.length) errors.push(invalid(versionsPath, shown, 'must contain unique version names'));
  if (versions.filter(({ storage }) => storage).length !== 1) {
    errors.push(invalid(versionsPath, shown, 'must have exactly one version marked as storage version'));
  }
  // Clients of older versions of the definition know the first version by a field of its own.
  const first = versions[0]?.name ?? '';
  const broken = first === '' ? [] : isDns1035Label(first);
  if (broken.length > 0) errors.push(invalid(path.child('version'), first, broken.join(',')));
  return errors;
}

/** Validates the parts that all versions share. */
export function sharedPartsErrors(spec: CustomResourceDefinitionSpec, path: FieldPath): FieldError[] {
  const versions = spec.versions ?? [];
  const [first] = versions;
  if (first === undefined || versions.length > maxVersions) return [];
  return [...sharedPartsOf(versions)].flatMap((part) => partErrors(first, part, path.child(sharedPlaces[part])));
}

function partErrors(version: CustomResourceDefinitionVersion, part: Part, path: FieldPath): FieldError[] {
  switch (part) {
    case 'schema':
      return [...versionSchemaErrors(version, path)];
    case 'subresources':
      return version.subresources === undefined ? [] : subresourcesErrors(version.subresources, path);
    case 'additionalPrinterColumns':
      return (version.additionalPrinterColumns ?? []).flatMap((column, i) => columnErrors(column, path.index(i)));
    case 'selectableFields':
      return selectableFieldsErrors(version, path);
  }
}

function warningRules({ deprecated, deprecationWarning: warning }: CustomResourceDefinitionVersion): string[] {
  if (warning === undefined) return [];
  if (deprecated !== true) return ['can only be set for deprecated versions'];
  const broken: string[] = [];
  if (Buffer.byteLength(warning) > maxWarningLength) broken.push(`must be <= ${maxWarningLength} characters long`);
  if (warning === '') broken.push('must not be an empty string');
  const unprintable = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.exec(warning);
  if (unprintable !== null) {
    const index = Buffer.byteLength(warning.slice(0, unprintable.index));
    broken.push(`must only contain printable UTF-8 characters; non-printable character found at index ${index}`);
  }
  return broken;
}
