import type { ApiObject } from '../../../base/machinery/api-object.js';
import { everyField, type FieldSelector, parseFieldSelector } from '../../../base/machinery/field-selector.js';
import { memberText, skimObject } from '../../../base/machinery/json/skim.js';
import {
  everything,
  type LabelSelector,
  type Labels,
  parseLabelSelector,
  SelectorError,
} from '../../../base/machinery/label-selector.js';
import { largeBytes } from '../../../base/machinery/large-work.js';
import { badRequestError } from '../../../base/machinery/status-error.js';
import {
  type AttributeSource,
  type ObjectAttributes,
  type SelectionPredicate,
  selects,
} from '../../../storage/selection-predicate.js';
import type { StoredObject } from '../../../storage/storage.interface.js';
import { type ResourceDefinition, remoteConversionOf } from '../resource-definition.js';
import type { ServedResource } from '../resource-registry.js';
import { isPresentForm, parseText, storedForm } from './object-codec.js';

const metadataFields: readonly string[] = ['metadata.name', 'metadata.namespace'];

/** The objects of a resource that a list, watch or deletecollection selects. */
export interface Selection extends SelectionPredicate {
  /** True when every object is selected, so nothing needs to be parsed. */
  readonly selectsAll: boolean;
  /** The one name that can match, when a field selector fixes it. */
  readonly name: string | undefined;
  /**
   * True when objects are stored in versions other than the requested one, which only an external converter can
   * convert: the selection can be decided only on the converted objects. Then the storage must not select (see {@link
   * storedSelection}), and {@link selectsConverted} does.
   */
  readonly isOfConverted: boolean;
}

/** The selectors of a query, well-formed, whatever the kind can be selected by. */
export interface Selectors {
  readonly labels: LabelSelector;
  readonly fields: FieldSelector;
}

/** Parses the selectors of a query. 400 for a string that is not a selector. A selector is never ignored. */
export function parseSelectors(query: URLSearchParams): Selectors {
  const labelText = query.get('labelSelector') ?? '';
  const fieldText = query.get('fieldSelector') ?? '';
  try {
    return {
      labels: labelText === '' ? everything : parseLabelSelector(labelText),
      fields: fieldText === '' ? everyField : parseFieldSelector(fieldText),
    };
  } catch (error) {
    if (error instanceof SelectorError) throw badRequestError(error.message, error);
    throw error;
  }
}

/** What the selectors select of a kind. 400 for fields that it can't be selected by. */
export function selectionOf(resource: ServedResource, { labels, fields }: Selectors): Selection {
  const { definition } = resource;
  const { selectableFieldNames: ownFields } = definition;
  for (const { field } of fields.requirements) {
    const isHidden = definition.hidesNamespace === true && field === 'metadata.namespace';
    if ((metadataFields.includes(field) && !isHidden) || ownFields?.includes(field) === true) continue;
    if (ownFields !== undefined) {
      throw badRequestError(definition.unselectable?.(field) ?? `field label not supported: ${field}`);
    }
    const known = metadataFields.map((f) => JSON.stringify(f)).join(', ');
    throw badRequestError(`${JSON.stringify(field)} is not a known field selector: only ${known}`);
  }
  return {
    source: attributeSource(resource),
    labels,
    fields,
    selectsAll: labels === everything && fields === everyField,
    name: fields.requiresExact('metadata.name'),
    isOfConverted: selectsByContent(labels, fields) && !isStoredAsServed(resource),
  };
}

/** Both at once, for callers without rules of their own that come between {@link parseSelectors} and {@link selectionOf}. */
export function parseSelection(resource: ServedResource, query: URLSearchParams): Selection {
  return selectionOf(resource, parseSelectors(query));
}

/** The part of a selection that the storage can apply; undefined: it returns all objects. */
export function storedSelection(selection: Selection): SelectionPredicate | undefined {
  return selection.selectsAll || selection.isOfConverted ? undefined : selection;
}

/** Whether an object, as JSON in the version of the request, is selected. */
export function selectsConverted(selection: Selection, { key, json }: Pick<StoredObject, 'key' | 'json'>): boolean {
  return selects(selection, selection.source.extract(json), key);
}

/**
 * The selection for callers that must never mistake one object for another: it tests only objects of the request's
 * version.
 */
export function strictSelection(resource: ServedResource, selection: Selection): Selection {
  const { labels, fields } = selection;
  const isOfConverted = remoteConversionOf(resource.definition) !== undefined && selectsByContent(labels, fields);
  return { ...selection, isOfConverted };
}

/** Whether a selection depends on more than name and namespace, which are the same in all versions. */
function selectsByContent(labels: LabelSelector, fields: FieldSelector): boolean {
  return labels !== everything || fields.requirements.some(({ field }) => !metadataFields.includes(field));
}

function isStoredAsServed(resource: ServedResource): boolean {
  const conversion = remoteConversionOf(resource.definition);
  return conversion === undefined || (resource.isStored && conversion.isUniform);
}

/** How many large objects are cached: an index reads the same object as all watches do. */
const mostRecent = 2;
/** How many sets of labels are cached. */
const mostLabelSets = 4_096;
/** The longest set of labels that is cached, in UTF-16 units. */
const longestLabelSet = 1_024;

const sources = new WeakMap<ResourceDefinition, AttributeSource>();
const noFields: Readonly<Record<string, string>> = Object.freeze({});

/** Reads the selectable values from stored JSON of the resource; one reader for all versions. */
function attributeSource(resource: ServedResource): AttributeSource {
  let source = sources.get(resource.definition);
  if (source === undefined) {
    source = resource.definition.selectableFields === undefined ? labelSource(resource) : fieldSource(resource);
    sources.set(resource.definition, source);
  }
  return source;
}

/**
 * The source for kinds that have only labels to select by. Many objects have the same labels and share the attributes.
 */
function labelSource(resource: ServedResource): AttributeSource {
  const known = new Map<string, ObjectAttributes>();
  const without = { labels: undefined, fields: noFields };
  const extract = (json: string): ObjectAttributes => {
    if (!isPresentForm(resource, json)) {
      return { source: made, labels: parseText(resource, json).metadata.labels, fields: noFields };
    }
    const text = memberText(json, storedForm(resource).prefix.length - 1, 'labels');
    if (text === undefined) return none;
    let attributes = known.get(text);
    if (attributes !== undefined) return attributes;
    attributes = { source: made, labels: JSON.parse(text) as Labels, fields: noFields };
    if (text.length > longestLabelSet) return attributes;
    if (known.size >= mostLabelSets) known.clear();
    known.set(detached(text), attributes);
    return attributes;
  };
  const made: AttributeSource = { extract };
  const none: ObjectAttributes = { source: made, ...without };
  return made;
}

/** A copy of a string that does not keep alive the longer string of which it was a part. */
function detached(text: string): string {
  return Buffer.from(text).toString();
}

function fieldSource(resource: ServedResource): AttributeSource {
  const { definition } = resource;
  const recent: { readonly json: string; readonly attributes: ObjectAttributes }[] = [];
  const look = (json: string): ObjectAttributes => {
    const object = selectablePart(resource, json);
    return { source: made, labels: object.metadata.labels, fields: fieldsOf(definition, object) };
  };
  const made: AttributeSource = {
    presentPrefix: storedForm(resource).prefix,
    extract: (json) => {
      if (json.length <= largeBytes) return look(json);
      const known = recent.find((one) => one.json === json);
      if (known !== undefined) return known.attributes;
      const attributes = look(json);
      recent.push({ json, attributes });
      if (recent.length > mostRecent) recent.shift();
      return attributes;
    },
  };
  return made;
}

/**
 * The object, or for a large one only the part that selectors can use: parsing all of it would hold up other requests.
 */
function selectablePart(resource: ServedResource, json: string): ApiObject {
  if (json.length <= largeBytes || !isPresentForm(resource, json)) return parseText(resource, json);
  return skimObject(json, ['metadata.labels']) as unknown as ApiObject;
}

/** Values of the selectable fields of the kind; name and namespace are not among them. */
export function fieldsOf(definition: ResourceDefinition, object: ApiObject): Readonly<Record<string, string>> {
  return definition.selectableFields?.(object) ?? noFields;
}
