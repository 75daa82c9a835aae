import { type FieldError, FieldPath, invalid, required } from '../../../base/machinery/field-error.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import { isHugePages } from '../../../objects/apis/core/v1/huge-pages.js';
import type { ResourceQuota, ResourceQuotaSpec } from '../../../objects/apis/core/v1/resource-quota.types.js';
import type { ResourceList } from '../../../objects/apis/core/v1/resources.types.js';
import { checkQuantity, checkResourceName } from '../../../objects/apis/core/v1/validation/resources.validation.js';

const specPath = FieldPath.of('spec');
const scopesPath = specPath.child('scopes');
const expressionsPath = specPath.child('scopeSelector').child('matchExpressions');

const computeResources = ['cpu', 'memory', 'limits.cpu', 'limits.memory', 'requests.cpu', 'requests.memory'];
const countedResources = [
  'pods',
  'resourcequotas',
  'services',
  'replicationcontrollers',
  'secrets',
  'persistentvolumeclaims',
  'configmaps',
  'services.nodeports',
  'services.loadbalancers',
];
const quotaResources: ReadonlySet<string> = new Set([
  ...computeResources,
  ...countedResources,
  'ephemeral-storage',
  'requests.storage',
  'requests.ephemeral-storage',
  'limits.ephemeral-storage',
]);

const podResources: ReadonlySet<string> = new Set(['pods', ...computeResources]);

/** The resources that a quota may limit, by scope. */
const scopeResources: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['BestEffort', new Set(['pods'])],
  ['NotBestEffort', podResources],
  ['Terminating', podResources],
  ['NotTerminating', podResources],
  ['PriorityClass', podResources],
  ['CrossNamespacePodAffinity', podResources],
  ['VolumeAttributesClass', new Set(['persistentvolumeclaims', 'requests.storage'])],
]);

/** Scopes that an object is either in or not, without values: only `Exists` makes sense for them. */
const plainScopes: ReadonlySet<string> = new Set([
  'BestEffort',
  'NotBestEffort',
  'Terminating',
  'NotTerminating',
  'CrossNamespacePodAffinity',
]);
const opposites = [
  ['BestEffort', 'NotBestEffort'],
  ['Terminating', 'NotTerminating'],
] as const;

/** Validates a new quota (specification 2.4). */
export function validateResourceQuota(object: ResourceQuota, names: VendorNames): FieldError[] {
  const errors: FieldError[] = [];
  validateAmounts(object.spec.hard, specPath.child('hard'), names, errors);
  validateScopes(object.spec, errors);
  validateScopeSelector(object.spec, errors);
  return errors;
}

/** Validates a changed quota: its scopes must not change. */
export function validateResourceQuotaUpdate(
  object: ResourceQuota,
  old: ResourceQuota,
  names: VendorNames,
): FieldError[] {
  const errors = validateResourceQuota(object, names);
  const scopes = new Set(object.spec.scopes);
  const oldScopes = new Set(old.spec.scopes);
  if (scopes.size !== oldScopes.size || [...scopes].some((scope) => !oldScopes.has(scope))) {
    errors.push(invalid(scopesPath, object.spec.scopes ?? null, 'field is immutable'));
  }
  return errors;
}

/** Validates the status. */
export function validateResourceQuotaStatus(object: ResourceQuota, names: VendorNames): FieldError[] {
  const errors: FieldError[] = [];
  const statusPath = FieldPath.of('status');
  validateAmounts(object.status.hard, statusPath.child('hard'), names, errors);
  validateAmounts(object.status.used, statusPath.child('used'), names, errors);
  return errors;
}

function validateAmounts(
  amounts: ResourceList | undefined,
  path: FieldPath,
  names: VendorNames,
  errors: FieldError[],
): void {
  for (const [name, value] of Object.entries(amounts ?? {})) {
    const at = path.key(name);
    checkResourceName(name, at, errors);
    if (!name.includes('/') && !isQuotaResource(name)) {
      errors.push(invalid(at, name, 'must be a standard resource for quota'));
    }
    checkQuantity(name, value, at, names, errors);
  }
}

function isQuotaResource(name: string): boolean {
  return quotaResources.has(name) || isHugePages(name) || name.startsWith('requests.hugepages-');
}

/** The number of limited resources to which the scope does not apply. */
function unsupportedCount(spec: ResourceQuotaSpec, scope: string): number {
  const allowed = scopeResources.get(scope);
  if (allowed === undefined) return 0;
  return Object.keys(spec.hard ?? {}).filter((name) => isQuotaResource(name) && !allowed.has(name)).length;
}

function hasOpposites(scopes: readonly string[]): boolean {
  return opposites.some(([a, b]) => scopes.includes(a) && scopes.includes(b));
}

function validateScopes(spec: ResourceQuotaSpec, errors: FieldError[]): void {
  const scopes = spec.scopes ?? [];
  for (const scope of scopes) {
    if (!scopeResources.has(scope)) errors.push(invalid(scopesPath, scopes, 'unsupported scope'));
    for (let i = unsupportedCount(spec, scope); i > 0; i--) {
      errors.push(invalid(scopesPath, scopes, 'unsupported scope applied to resource'));
    }
  }
  if (hasOpposites(scopes)) errors.push(invalid(scopesPath, scopes, 'conflicting scopes'));
}

function validateScopeSelector(spec: ResourceQuotaSpec, errors: FieldError[]): void {
  const expressions = spec.scopeSelector?.matchExpressions ?? [];
  for (const { scopeName, operator, values = [] } of expressions) {
    if (!scopeResources.has(scopeName)) {
      errors.push(invalid(expressionsPath.child('scopeName'), scopeName, 'unsupported scope'));
    }
    for (let i = unsupportedCount(spec, scopeName); i > 0; i--) {
      errors.push(invalid(expressionsPath, spec.scopeSelector, 'unsupported scope applied to resource'));
    }
    if (plainScopes.has(scopeName) && operator !== 'Exists') {
      const detail =
        "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity";
      errors.push(invalid(expressionsPath.child('operator'), operator, detail));
    }
    validateValues(operator, values, errors);
  }
  if (hasOpposites(expressions.map(({ scopeName }) => scopeName))) {
    errors.push(invalid(expressionsPath, spec.scopes ?? null, 'conflicting scopes'));
  }
}

function validateValues(operator: string, values: readonly string[], errors: FieldError[]): void {
  const path = expressionsPath.child('values');
  if (operator === 'In' || operator === 'NotIn') {
    if (values.length > 0) return;
    const detail = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector";
    errors.push(required(path, detail));
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (values.length === 0) return;
    const detail = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector";
    errors.push(invalid(path, values, detail));
  } else {
    errors.push(invalid(expressionsPath.child('operator'), operator, 'not a valid selector operator'));
  }
}
