import { validateDomainPrefixedPath } from '../../../base/machinery/domain-prefixed-path.js';
import {
  type FieldError,
  FieldPath,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
} from '../../../base/machinery/field-error.js';
import { isDns1123Label } from '../../../base/machinery/names.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import {
  type IngressClass,
  type IngressClassParametersReference,
  ingressClass,
} from '../../../objects/apis/networking/v1/ingress-class.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import {
  defineResource,
  type ResourceDefinition,
  type TableColumn,
} from '../../../objects/registry/resource-definition.js';
import { validateTypedReference } from '../typed-reference.validation.js';

const controllerPath = FieldPath.of('spec', 'controller');
const parametersPath = FieldPath.of('spec', 'parameters');
const maxControllerLength = 250;
const scopes = ['Cluster', 'Namespace'];

const columns: readonly TableColumn<IngressClass>[] = [
  nameColumn,
  {
    name: 'Controller',
    type: 'string',
    description: 'Controller that handles the class.',
    cell: (object) => object.spec.controller ?? '',
  },
  { name: 'Parameters', type: 'string', description: 'Object with further configuration.', cell: parametersCell },
  ageColumn,
];

/** `ingressclasses`: which controller serves the ingresses of a class. */
export function ingressClassResource(names: VendorNames): ResourceDefinition {
  return defineResource<IngressClass>({
    group: groupName('networking', names),
    resource: 'ingressclasses',
    singular: 'ingressclass',
    kind: 'IngressClass',
    namespaced: false,
    versions: [{ version: 'v1', type: ingressClass }],
    strategyOptions: { generation: 'spec' },
    strategy: {
      applyDefaults: (object) => {
        const { parameters } = object.spec;
        if (parameters !== undefined) parameters.scope ??= 'Cluster';
      },
      validate: (_context, object) => validateIngressClass(object),
      validateUpdate: (_context, object, old) => validateIngressClassUpdate(object, old),
    },
    columns,
  });
}

/** Validates a new IngressClass. */
function validateIngressClass(object: IngressClass): FieldError[] {
  const errors: FieldError[] = [];
  const controller = object.spec.controller ?? '';
  if (controller === '') errors.push(required(controllerPath));
  else validateController(controller, errors);
  if (object.spec.parameters !== undefined) validateParameters(object.spec.parameters, errors);
  return errors;
}

/** Validates a changed IngressClass: only its parameters and metadata may change. */
function validateIngressClassUpdate(object: IngressClass, old: IngressClass): FieldError[] {
  const errors: FieldError[] = [];
  if (object.spec.controller !== old.spec.controller) {
    errors.push(invalid(controllerPath, object.spec.controller ?? '', 'field is immutable'));
  }
  return [...errors, ...validateIngressClass(object)];
}

function validateController(controller: string, errors: FieldError[]): void {
  if (controller.length > maxControllerLength) errors.push(tooLong(controllerPath, maxControllerLength));
  errors.push(...validateDomainPrefixedPath(controller, controllerPath));
}

function validateParameters(parameters: IngressClassParametersReference, errors: FieldError[]): void {
  validateTypedReference(parameters, parametersPath, errors, true);
  const { scope, namespace } = parameters;
  if (scope === null || !scopes.includes(scope)) {
    errors.push(notSupported(parametersPath.child('scope'), scope, scopes));
    return;
  }
  const namespacePath = parametersPath.child('namespace');
  if (scope === 'Namespace') {
    if (namespace === undefined) errors.push(required(namespacePath, "`parameters.scope` is set to 'Namespace'"));
    else for (const m of isDns1123Label(namespace)) errors.push(invalid(namespacePath, namespace, m));
  } else if (namespace !== undefined) {
    errors.push(forbidden(namespacePath, "`parameters.scope` is set to 'Cluster'"));
  }
}

function parametersCell(object: IngressClass): string {
  const { parameters } = object.spec;
  if (parameters === undefined) return '<none>';
  const group = parameters.apiGroup === undefined ? '' : `.${parameters.apiGroup}`;
  return `${parameters.kind}${group}/${parameters.name}`;
}
