import {
  type FieldError,
  type FieldPath,
  invalid,
  notSupported,
  required,
} from '../../../base/machinery/field-error.js';
import { isDns1123Label } from '../../../base/machinery/names.js';
import type {
  NonResourcePolicyRule,
  ResourcePolicyRule,
} from '../../../objects/apis/flowcontrol/v1/flow-schema.types.js';

const all = '*';
const knownVerbs = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'proxy', 'update', 'watch'];

/** Validates a rule for resources. */
export function checkResourceRule(rule: ResourcePolicyRule, path: FieldPath, errors: FieldError[]): void {
  checkVerbs(rule.verbs ?? [], path.child('verbs'), errors);
  const apiGroups = rule.apiGroups ?? [];
  const groupsPath = path.child('apiGroups');
  if (apiGroups.length === 0) errors.push(required(groupsPath, 'resource rules must supply at least one api group'));
  else checkAlone(apiGroups, 'api groups', groupsPath, errors);
  const resources = rule.resources ?? [];
  const resourcesPath = path.child('resources');
  if (resources.length === 0) errors.push(required(resourcesPath, 'resource rules must supply at least one resource'));
  else checkAlone(resources, 'resources', resourcesPath, errors);
  checkNamespaces(rule, path.child('namespaces'), errors);
}

/** Validates a rule for non-resource paths. */
export function checkNonResourceRule(rule: NonResourcePolicyRule, path: FieldPath, errors: FieldError[]): void {
  checkVerbs(rule.verbs ?? [], path.child('verbs'), errors);
  const urls = rule.nonResourceURLs ?? [];
  const urlsPath = path.child('nonResourceURLs');
  if (urls.length === 0) errors.push(required(urlsPath, 'nonResourceURLs must contain at least one value'));
  else if (urls.length > 1 && urls.includes(all)) checkAlone(urls, 'non-resource URLs', urlsPath, errors);
  else for (const [i, url] of urls.entries()) checkUrl(url, urlsPath.index(i), errors);
}

function checkVerbs(verbs: readonly string[], path: FieldPath, errors: FieldError[]): void {
  if (verbs.length === 0) errors.push(required(path, 'verbs must contain at least one value'));
  else if (verbs.includes(all)) checkAlone(verbs, 'verbs', path, errors);
  else if (verbs.some((verb) => !knownVerbs.includes(verb))) errors.push(notSupported(path, verbs, knownVerbs));
}

function checkNamespaces(
  { namespaces, clusterScope }: ResourcePolicyRule,
  path: FieldPath,
  errors: FieldError[],
): void {
  const given = namespaces ?? [];
  if (given.length === 0 && clusterScope !== true) {
    const detail = 'resource rules that are not cluster scoped must supply at least one namespace';
    errors.push(required(path, detail));
  } else if (given.includes(all)) checkAlone(given, 'namespaces', path, errors);
  else {
    for (const [i, namespace] of given.entries()) {
      for (const message of isDns1123Label(namespace)) {
        const detail = `each member of this list must be '*' or a DNS-1123 label; ${message}`;
        errors.push(invalid(path.index(i), namespace, detail));
      }
    }
  }
}

function checkAlone(values: readonly string[], what: string, path: FieldPath, errors: FieldError[]): void {
  if (values.length > 1 && values.includes(all)) {
    errors.push(invalid(path, values, `if '*' is present, must not specify other ${what}`));
  }
}

function checkUrl(url: string, path: FieldPath, errors: FieldError[]): void {
  if (url === all) return;
  const star = url.indexOf(all);
  if (url === '') errors.push(invalid(path, url, 'must not be empty'));
  else if (!url.startsWith('/')) errors.push(invalid(path, url, 'must start with slash'));
  else if (url.includes(' ')) errors.push(invalid(path, url, 'must not contain white-space'));
  else if (url.includes('//')) errors.push(invalid(path, url, 'must not contain double slash'));
  else if (star >= 0 && (star < url.length - 1 || !url.endsWith('/*'))) {
    errors.push(invalid(path, url, 'wildcard can only do suffix matching'));
  }
}
