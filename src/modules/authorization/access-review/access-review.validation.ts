import type { ObjectMeta } from '../../../base/machinery/api-object.js';
import {
  type FieldError,
  FieldPath,
  forbidden,
  invalid,
  required,
  tooMany,
} from '../../../base/machinery/field-error.js';
import { isQualifiedName, isValidLabelValue } from '../../../base/machinery/names.js';
import { structForm } from '../../../base/machinery/schema/struct-form.js';
import {
  type FieldSelectorAttributes,
  type LabelSelectorAttributes,
  nonResourceAttributes as nonResourceType,
  type SubjectAccessReviewSpec,
} from '../../../objects/apis/authorization/v1/subject-access-review.types.js';
import type { AskedAttributes } from './access-review.js';

const spec = FieldPath.of('spec');
/** The most groups of a review: no directory puts a user into more. Every policy is searched for each group. */
const maxGroups = 10_000;
/** The most keys and values of `extra` together. */
const maxExtra = 10_000;

/** Validates the spec: it needs exactly one of the two forms, and valid selectors. */
export function attributesErrors({ resourceAttributes, nonResourceAttributes }: AskedAttributes): FieldError[] {
  return [...formErrors({ resourceAttributes, nonResourceAttributes }), ...selectorsErrors(resourceAttributes)];
}

function formErrors({ resourceAttributes, nonResourceAttributes }: AskedAttributes): FieldError[] {
  if (Boolean(resourceAttributes) !== Boolean(nonResourceAttributes)) return [];
  const detail = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
  return [invalid(spec, structForm(nonResourceType, nonResourceAttributes), detail)];
}

function selectorsErrors(resourceAttributes: AskedAttributes['resourceAttributes']): FieldError[] {
  const errors: FieldError[] = [];
  const path = spec.child('resourceAttributes');
  const { fieldSelector, labelSelector } = resourceAttributes ?? {};
  if (fieldSelector) errors.push(...selectorErrors(fieldSelector, path.child('fieldSelector'), fieldErrors));
  if (labelSelector) errors.push(...selectorErrors(labelSelector, path.child('labelSelector'), labelErrors));
  return errors;
}

/** Validates a review about another user. */
export function subjectErrors(review: SubjectAccessReviewSpec): FieldError[] {
  const errors = formErrors(review);
  const { groups, extra, resourceAttributes } = review;
  if (groups && groups.length > maxGroups) errors.push(tooMany(spec.child('groups'), groups.length, maxGroups));
  let extraCount = 0;
  for (const values of Object.values(extra ?? {})) extraCount += 1 + (values?.length ?? 0);
  if (extraCount > maxExtra) errors.push(tooMany(spec.child('extra'), extraCount, maxExtra));
  if (!review.user && (review.groups ?? []).length === 0) {
    errors.push(invalid(spec.child('user'), '', 'at least one of user or group must be specified'));
  }
  errors.push(...selectorsErrors(resourceAttributes));
  return errors;
}

/** Errors for metadata: a review is not an object, and may have at most a namespace, if it is namespaced. */
export function metadataErrors(metadata: ObjectMeta, isNamespaced: boolean): FieldError[] {
  const { managedFields: _owners, name, generateName, namespace, ...rest } = metadata;
  const isMissing = (value: unknown) => value === undefined || value === null || value === '';
  const own = { name, generateName, ...(isNamespaced ? {} : { namespace }), ...rest };
  if (Object.values(own).every(isMissing)) return [];
  const all = Object.entries({ name, generateName, namespace, ...rest });
  const shown = Object.fromEntries(all.filter(([, value]) => !isMissing(value)));
  return [
    invalid(FieldPath.of('metadata'), shown, isNamespaced ? 'must be empty except for namespace' : 'must be empty'),
  ];
}

function selectorErrors(
  { rawSelector, requirements = [] }: FieldSelectorAttributes | LabelSelectorAttributes,
  path: FieldPath,
  namesErrors: (requirement: Requirement, path: FieldPath) => FieldError[],
): FieldError[] {
  const errors: FieldError[] = [];
  const requirementsPath = path.child('requirements');
  if (rawSelector && requirements.length > 0) {
    errors.push(invalid(path.child('rawSelector'), rawSelector, 'may not specified at the same time as requirements'));
  }
  if (!rawSelector && requirements.length === 0) {
    const detail = `when ${path} is specified, requirements or rawSelector is required`;
    errors.push(required(requirementsPath, detail));
  }
  for (const [i, requirement] of requirements.entries()) {
    const at = requirementsPath.index(i);
    errors.push(...namesErrors(requirement, at), ...valueCountErrors(requirement, at));
  }
  return errors;
}

interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values?: readonly string[];
}

function fieldErrors({ key }: Requirement, path: FieldPath): FieldError[] {
  return key === '' ? [required(path.child('key'), 'must be specified')] : [];
}

function labelErrors({ key, values = [] }: Requirement, path: FieldPath): FieldError[] {
  return [
    ...isQualifiedName(key).map((problem) => invalid(path.child('key'), key, problem)),
    ...values.flatMap((value, i) =>
      isValidLabelValue(value).map((problem) => invalid(path.child('values').index(i), value, problem)),
    ),
  ];
}

/** An unknown operator is not an error: newer clients may send it, and it does not narrow the selection. */
function valueCountErrors({ operator, values }: Requirement, path: FieldPath): FieldError[] {
  const errors: FieldError[] = [];
  const count = values?.length ?? 0;
  if (operator === 'In' || operator === 'NotIn') {
    if (count === 0) {
      errors.push(required(path.child('values'), "must be specified when `operator` is 'In' or 'NotIn'"));
    }
  } else if (operator === 'Exists' || operator === 'DoesNotExist') {
    if (count > 0) {
      const detail = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'";
      errors.push(forbidden(path.child('values'), detail));
    }
  }
  return errors;
}
