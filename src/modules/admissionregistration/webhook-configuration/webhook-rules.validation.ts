import {
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
} from '../../../base/machinery/field-error.js';
import type { RuleWithOperations } from '../../../objects/apis/admissionregistration/v1/rule.types.js';

const operationTypes = ['*', 'CONNECT', 'CREATE', 'DELETE', 'UPDATE'];
const scopes = ['*', 'Cluster', 'Namespaced'];

/** Validates one rule that selects the requests that a webhook receives. */
export function validateRule(rule: RuleWithOperations, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  validateOperations(rule.operations ?? [], path.child('operations'), errors);
  const { apiGroups = [], apiVersions = [], resources = [], scope } = rule;
  const groupsPath = path.child('apiGroups');
  if (apiGroups.length === 0) errors.push(required(groupsPath));
  if (mixesWildcard(apiGroups)) {
    errors.push(invalid(groupsPath, apiGroups, "if '*' is present, must not specify other API groups"));
  }
  const versionsPath = path.child('apiVersions');
  if (apiVersions.length === 0) errors.push(required(versionsPath));
  if (mixesWildcard(apiVersions)) {
    errors.push(invalid(versionsPath, apiVersions, "if '*' is present, must not specify other API versions"));
  }
  for (const [i, version] of apiVersions.entries()) if (version === '') errors.push(required(versionsPath.index(i)));
  validateResources(resources, path.child('resources'), errors);
  if (scope !== undefined && !scopes.includes(scope)) errors.push(notSupported(path.child('scope'), scope, scopes));
  return errors;
}

function validateOperations(operations: readonly string[], path: FieldPath, errors: FieldError[]): void {
  if (operations.length === 0) errors.push(required(path));
  if (mixesWildcard(operations)) {
    errors.push(invalid(path, operations, "if '*' is present, must not specify other operations"));
  }
  for (const [i, operation] of operations.entries()) {
    if (!operationTypes.includes(operation)) errors.push(notSupported(path.index(i), operation, operationTypes));
  }
}

function mixesWildcard(values: readonly string[]): boolean {
  return values.length > 1 && values.includes('*');
}

// Validates entries: a resource, a resource with one or all subresources, all resources with or without subresources.
// No entry may cover another one.
function validateResources(resources: readonly string[], path: FieldPath, errors: FieldError[]): void {
  if (resources.length === 0) errors.push(required(path));
  const resourcesWithAll = new Set<string>();
  const subresourcesOfAll = new Set<string>();
  let hasDoubleWildcard = false;
  let hasSingleWildcard = false;
  let hasPlainResource = false;
  for (const [i, entry] of resources.entries()) {
    const at = path.index(i);
    if (entry === '') {
      errors.push(required(at));
      continue;
    }
    if (entry === '*/*') hasDoubleWildcard = true;
    if (entry === '*') hasSingleWildcard = true;
    const slash = entry.indexOf('/');
    if (slash < 0) {
      // The last one of them counts, as in the release: `[pods, *]` is accepted there.
      hasPlainResource = entry !== '*';
      continue;
    }
    const resource = entry.slice(0, slash);
    const subresource = entry.slice(slash + 1);
    const covers = (wildcard: string) => `if '${wildcard}' is present, must not specify ${entry}`;
    if (entry !== '*/*' && hasDoubleWildcard && (resource === '*' || subresource === '*')) {
      errors.push(invalid(at, entry, covers('*/*')));
    }
    if (resourcesWithAll.has(resource)) errors.push(invalid(at, entry, covers(`${resource}/*`)));
    if (subresourcesOfAll.has(subresource)) errors.push(invalid(at, entry, covers(`*/${subresource}`)));
    if (subresource === '*') resourcesWithAll.add(resource);
    if (resource === '*') subresourcesOfAll.add(subresource);
  }
  if (resources.length > 1 && hasDoubleWildcard) {
    errors.push(invalid(path, resources, "if '*/*' is present, must not specify other resources"));
  }
  if (hasSingleWildcard && hasPlainResource) {
    const detail = "if '*' is present, must not specify other resources without subresources";
    errors.push(invalid(path, resources, detail));
  }
}
