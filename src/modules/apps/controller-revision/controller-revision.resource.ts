import { type FieldError, FieldPath, required } from '../../../base/machinery/field-error.js';
import { isObject } from '../../../base/machinery/patch/json-value.js';
import { groupName, type VendorNames } from '../../../base/machinery/vendor.js';
import {
  type ControllerRevision,
  controllerRevision,
} from '../../../objects/apis/apps/v1/controller-revision.types.js';
import { checkImmutable, checkNonNegative } from '../../../objects/apis/core/v1/validation/common.validation.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import { defineResource, type ResourceDefinition } from '../../../objects/registry/resource-definition.js';

const dataPath = FieldPath.of('data');

/** Controller revisions: earlier states of a controller's template, kept for rollbacks. */
export function controllerRevisionResource(names: VendorNames): ResourceDefinition {
  return defineResource<ControllerRevision>({
    group: groupName('apps', names),
    resource: 'controllerrevisions',
    singular: 'controllerrevision',
    kind: 'ControllerRevision',
    namespaced: true,
    versions: [{ version: 'v1', type: controllerRevision }],
    strategy: {
      validate: (_context, object) => [...validate(object), ...dataFaults(object.data)],
      validateUpdate(_context, object, old) {
        const errors = validate(object);
        checkImmutable(object.data, old.data, dataPath, errors);
        return errors;
      },
    },
    columns: [
      nameColumn,
      {
        name: 'Controller',
        type: 'string',
        description: 'The object whose state it is.',
        cell: controllerOf,
      },
      {
        name: 'Revision',
        type: 'string',
        description: 'Its place in the order of states.',
        cell: ({ revision }) => String(revision),
      },
      ageColumn,
    ],
  });
}

function validate(object: ControllerRevision): FieldError[] {
  const errors: FieldError[] = [];
  checkNonNegative(object.revision, FieldPath.of('revision'), errors);
  return errors;
}

/** The state must be an object to be written; other JSON that is already stored can still be read. */
function dataFaults(data: unknown): FieldError[] {
  if (data === null || data === undefined) return [required(dataPath, 'data is mandatory')];
  return isObject(data) ? [] : [required(dataPath, 'data must be a valid JSON object')];
}

function controllerOf({ metadata }: ControllerRevision): string {
  const owner = metadata.ownerReferences?.find((reference) => reference.controller === true);
  if (owner === undefined) return '<none>';
  const slash = owner.apiVersion.indexOf('/');
  const group = slash < 0 ? '' : `.${owner.apiVersion.slice(0, slash)}`;
  return `${owner.kind.toLowerCase()}${group}/${owner.name}`;
}
