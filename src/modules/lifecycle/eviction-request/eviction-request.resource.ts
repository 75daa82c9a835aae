import { type FieldError, FieldPath, invalid, notSupported, required } from '../../../base/machinery/field-error.js';
import { isQualifiedName } from '../../../base/machinery/names.js';
import { deepEqual } from '../../../base/machinery/patch/json-value.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import {
  type EvictionRequest,
  evictionRequest,
} from '../../../objects/apis/lifecycle/v1alpha1/eviction-request.types.js';
import { validateConditions } from '../../../objects/apis/meta/v1/validation/condition.validation.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import { clientMetadata, statusSubresource } from '../../../objects/registry/definition/parent-subresources.js';
import {
  defineResource,
  type ResourceDefinition,
  type TableColumn,
} from '../../../objects/registry/resource-definition.js';
import { evictionState, targetColumns, validateTarget } from '../eviction-target.js';

const specPath = FieldPath.of('spec');
const intents = ['Eviction', 'Withdrawn'];

const columns: readonly TableColumn<EvictionRequest>[] = [
  nameColumn,
  ...targetColumns,
  { name: 'Status', type: 'string', description: 'How far it has got.', cell: ({ status }) => evictionState(status) },
  { name: 'Requester', type: 'string', description: 'Who asks.', cell: ({ spec }) => spec.requester },
  { name: 'Intent', type: 'string', description: 'What is wanted.', cell: ({ spec }) => spec.intent },
  ageColumn,
];

/** `evictionrequests`: requests to evict pods. */
export function evictionRequestResource(names: VendorNames): ResourceDefinition {
  return defineResource<EvictionRequest>({
    group: groupName('lifecycle', names),
    resource: 'evictionrequests',
    singular: 'evictionrequest',
    kind: 'EvictionRequest',
    namespaced: true,
    versions: [{ version: 'v1alpha1', type: evictionRequest, neededGate: 'EvictionRequestAPI' }],
    strategyOptions: { generation: 'spec' },
    strategy: {
      prepareForCreate: (_context, object) => {
        object.status = {};
      },
      validate: (_context, object) => validateRequest(object),
      validateUpdate: (_context, object, old) => [
        ...validateRequest(object),
        ...(['target', 'requester'] as const)
          .filter((field) => !deepEqual(object.spec[field], old.spec[field]))
          .map((field) => invalid(specPath.child(field), object.spec[field], 'field is immutable')),
      ],
    },
    columns,
    subresources: [
      statusSubresource<EvictionRequest>({
        keptMetadata: clientMetadata,
        validate: ({ status }) => validateConditions(status.conditions, FieldPath.of('status', 'conditions')),
      }),
    ],
  });
}

function validateRequest({ spec: { target, requester, intent } }: EvictionRequest): FieldError[] {
  const errors = validateTarget(target, specPath.child('target'));
  const path = specPath.child('requester');
  if (requester === '') errors.push(required(path));
  else if (!requester.includes('/')) errors.push(invalid(path, requester, 'must be a name with a domain'));
  else for (const message of isQualifiedName(requester)) errors.push(invalid(path, requester, message));
  if (intent === '') errors.push(required(specPath.child('intent')));
  else if (!intents.includes(intent)) errors.push(notSupported(specPath.child('intent'), intent, intents));
  return errors;
}
