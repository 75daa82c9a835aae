import { type FieldError, FieldPath, invalid } from '../../../base/machinery/field-error.js';
import { isDns1123Label, isQualifiedName } from '../../../base/machinery/names.js';
import type { VendorNames } from '../../../base/machinery/vendor.js';
import { type Namespace, namespace } from '../../../objects/apis/core/v1/namespace.types.js';
import { ageColumn, nameColumn } from '../../../objects/registry/definition/default-columns.js';
import { keepField, statusSubresource } from '../../../objects/registry/definition/parent-subresources.js';
import { maskTrailingDash } from '../../../objects/registry/metadata/before-create.js';
import { defineResource, type StoredResource } from '../../../objects/registry/resource-definition.js';
import type { Strategy } from '../../../objects/registry/strategy.js';

const finalizersPath = FieldPath.of('spec', 'finalizers');
/** Spelled as clients know it from the message about this field. */
const phasePath = FieldPath.of('status', 'Phase');

/** Finalizers without a prefix that a namespace may carry, besides its own. */
const standardFinalizers: ReadonlySet<string> = new Set(['orphan', 'foregroundDeletion']);

/**
 * Namespaces. They stay in the phase Terminating until their content is gone and `finalize` has emptied
 * `spec.finalizers`.
 */
export function namespaceResource(names: VendorNames): StoredResource {
  return defineResource<Namespace>({
    group: '',
    resource: 'namespaces',
    singular: 'namespace',
    kind: 'Namespace',
    namespaced: false,
    shortNames: ['ns'],
    versions: [{ version: 'v1', type: namespace }],
    // Revision 1 added the label with the name.
    defaultsRevision: 1,
    verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
    strategy: namespaceStrategy(names),
    strategyOptions: { returnsDeletedObject: true },
    selectableFieldNames: ['status.phase'],
    hidesNamespace: true,
    selectableFields: (object) => ({ 'status.phase': object.status.phase ?? '' }),
    columns: [
      nameColumn,
      {
        name: 'Status',
        type: 'string',
        description: 'Active, or Terminating while its content is being removed.',
        cell: (object) => object.status.phase ?? '',
      },
      ageColumn,
    ],
    subresources: [
      statusSubresource<Namespace>({ validate: validatePhase }),
      {
        type: 'part',
        name: 'finalize',
        verbs: ['update'],
        prepareForUpdate: (_context, object, old) => keepField(object, old, 'status'),
        validateUpdate: (_context, object) => validateFinalizers(object as unknown as Namespace, names, true),
      },
    ],
  });
}

function namespaceStrategy(names: VendorNames): Strategy<Namespace> {
  const nameLabel = `${names.labelPrefix}/metadata.name`;
  /** Sets the label by which selectors find a namespace by name, whatever labels clients write. */
  const applyNameLabel = ({ metadata }: Namespace): void => {
    const { name } = metadata;
    if (name && metadata.labels?.[nameLabel] !== name) metadata.labels = { ...metadata.labels, [nameLabel]: name };
  };
  return {
    applyDefaults(object) {
      object.status.phase ||= 'Active';
      applyNameLabel(object);
    },

    validateName: (name, prefix) => isDns1123Label(prefix ? maskTrailingDash(name) : name),

    prepareForCreate(_context, object) {
      // Applied again, since a generated name is set only after the defaults.
      applyNameLabel(object);
      object.status = { phase: 'Active' };
      const finalizers = object.spec.finalizers ?? [];
      if (!finalizers.includes(names.namespaceFinalizer)) {
        object.spec.finalizers = [...finalizers, names.namespaceFinalizer];
      }
    },

    validate: (_context, object) => validateFinalizers(object, names, false),

    prepareForUpdate(_context, object, old) {
      applyNameLabel(object);
      // Finalizers of the spec can only be changed through the finalize path.
      if (old.spec.finalizers === undefined) delete object.spec.finalizers;
      else object.spec.finalizers = old.spec.finalizers;
    },

    prepareForDelete(_context, object) {
      object.status = { ...object.status, phase: 'Terminating' };
    },

    deletionBlocked: (object) => (object.spec.finalizers ?? []).length > 0,
  };
}

/** The phase follows from the deletionTimestamp: a status write can neither terminate a namespace nor bring it back. */
function validatePhase(object: Namespace): FieldError[] {
  const isDeleting = object.metadata.deletionTimestamp !== undefined;
  const expected = isDeleting ? 'Terminating' : 'Active';
  if (object.status.phase === expected) return [];
  const detail = `may only be '${expected}' if \`deletionTimestamp\` is ${isDeleting ? 'not ' : ''}empty`;
  return [invalid(phasePath, object.status.phase ?? '', detail)];
}

function validateFinalizers(object: Namespace, names: VendorNames, withIndex: boolean): FieldError[] {
  const errors: FieldError[] = [];
  (object.spec.finalizers ?? []).forEach((finalizer, i) => {
    const path = withIndex ? finalizersPath.index(i) : finalizersPath;
    for (const message of isQualifiedName(finalizer)) errors.push(invalid(path, finalizer, message));
    const isKnown = standardFinalizers.has(finalizer) || finalizer === names.namespaceFinalizer;
    if (!finalizer.includes('/') && !isKnown) {
      errors.push(invalid(path, finalizer, 'name is neither a standard finalizer name nor is it fully qualified'));
    }
  });
  return errors;
}
