import type { ApiObject } from '../machinery/api-object.js';
import { everyField, type FieldSelector, parseFieldSelector } from '../machinery/field-selector.js';
import { everything, type LabelSelector, parseLabelSelector, SelectorError } from '../machinery/label-selector.js';
import { badRequestError } from '../machinery/status-error.js';
import type { ResourceDefinition } from './resource-definition.js';

const metadataFields: readonly string[] = ['metadata.name', 'metadata.namespace'];

/** Which objects of a resource a list, watch or deletecollection is about. */
export interface Selection {
  readonly labels: LabelSelector;
  readonly fields: FieldSelector;
  /** True when every object is selected, so that nothing needs to be parsed. */
  readonly selectsAll: boolean;
  /** The one name that can match, when a field selector fixes it. */
  readonly name: string | undefined;
  matches(object: ApiObject): boolean;
}

/**
 * Parses the selectors of a query. 400 for text that is no selector and for fields the kind can't be selected by: a
 * selector is never ignored.
 */
export function parseSelection(definition: ResourceDefinition, query: URLSearchParams): Selection {
  const labelText = query.get('labelSelector') ?? '';
  const fieldText = query.get('fieldSelector') ?? '';
  let labels: LabelSelector = everything;
  let fields: FieldSelector = everyField;
  try {
    if (labelText !== '') labels = parseLabelSelector(labelText);
    if (fieldText !== '') fields = parseFieldSelector(fieldText);
  } catch (error) {
    if (error instanceof SelectorError) throw badRequestError(error.message, error);
    throw error;
  }
  const ownFields = definition.selectableFieldNames ?? [];
  for (const { field } of fields.requirements) {
    if (metadataFields.includes(field) || ownFields.includes(field)) continue;
    if (ownFields.length > 0) throw badRequestError(`field label not supported: ${field}`);
    const known = metadataFields.map((f) => JSON.stringify(f)).join(', ');
    throw badRequestError(`${JSON.stringify(field)} is not a known field selector: only ${known}`);
  }
  return {
    labels,
    fields,
    selectsAll: labels === everything && fields === everyField,
    name: fields.requiresExact('metadata.name'),
    matches: (object) =>
      labels.matches(object.metadata.labels) && (fields === everyField || fields.matches(fieldsOf(definition, object))),
  };
}

/** Values of all selectable fields of an object. */
export function fieldsOf(definition: ResourceDefinition, object: ApiObject): Record<string, string> {
  return {
    'metadata.name': object.metadata.name ?? '',
    'metadata.namespace': object.metadata.namespace ?? '',
    ...definition.selectableFields?.(object),
  };
}
