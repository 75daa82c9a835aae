import type { RequestInfo } from '../../base/machinery/request-context.js';
import { isShownSecretAnnotation } from '../../base/machinery/secret-annotations.js';
import type { VendorNames } from '../../base/machinery/vendor.js';

/** Replaces a secret in the audit trail. */
export const hiddenText = '(hidden)';

/** Returns the object to record in place of the given one, which belongs to the audit trail and may be changed. */
export type Hide = (object: unknown) => unknown;

type Entry = Record<string, unknown>;

/**
 * The function that hides secrets in the bodies of a request; undefined when their kind holds none. Values of Secrets
 * and tokens are never recorded, whatever the policy says.
 */
export function hiderFor({ apiGroup, resource, subresource }: RequestInfo, names: VendorNames): Hide | undefined {
  if (apiGroup === '' && resource === 'secrets') return hideSecret;
  if (apiGroup === '' && resource === 'serviceaccounts' && subresource === 'token') return hideTokens;
  if (apiGroup === `authentication.${names.suffix}`) return hideTokens;
  return undefined;
}

/** The only fields of a Secret that are recorded, so that no other field is recorded by oversight. */
const shownFields = ['kind', 'apiVersion', 'type', 'immutable'] as const;

/** Hides the values of a Secret, including those in lists, tables, patches and error statuses. */
function hideSecret(value: unknown): unknown {
  // A JSON patch, whose values may be parts of any field.
  if (Array.isArray(value)) {
    return value.map((operation: unknown) =>
      isEntry(operation) && 'value' in operation ? { ...operation, value: hiddenText } : operation,
    );
  }
  if (!isEntry(value)) return hiddenText;
  if (value.kind === 'Status') return withoutMessages(value);
  const { metadata, items, rows } = value;
  if (Array.isArray(items)) return { ...value, items: items.map(hideSecret) };
  if (Array.isArray(rows)) return { ...value, rows: rows.map(hideRow) };
  const shown: Entry = {};
  for (const field of shownFields) if (value[field] !== undefined) shown[field] = value[field];
  if (isEntry(metadata)) shown.metadata = shownMetadata(metadata);
  for (const field of ['data', 'stringData']) {
    if (value[field] !== undefined) shown[field] = isEntry(value[field]) ? keysOnly(value[field]) : hiddenText;
  }
  return shown;
}

/** Hides the object of a table row. The cells belong to the kind's columns, which contain no values. */
function hideRow(row: unknown): unknown {
  return isEntry(row) && row.object !== undefined ? { ...row, object: hideSecret(row.object) } : row;
}

function shownMetadata(metadata: Entry): Entry {
  return isEntry(metadata.annotations)
    ? { ...metadata, annotations: shownAnnotations(metadata.annotations) }
    : metadata;
}

/** Hides tokens: they are in `spec.token` of a review and in `status.token` of a response. */
function hideTokens(value: unknown): unknown {
  if (!isEntry(value)) return hiddenText;
  if (value.kind === 'Status') return withoutMessages(value);
  for (const part of ['spec', 'status']) {
    const { [part]: fields } = value;
    if (isEntry(fields) && fields.token !== undefined) fields.token = hiddenText;
  }
  return value;
}

/** Removes messages, since messages of errors quote the refused values. */
function withoutMessages(status: Entry): Entry {
  if (status.status !== 'Failure') return status;
  const { details } = status;
  const causes = isEntry(details) && Array.isArray(details.causes) ? details.causes : undefined;
  const shown = causes?.map((cause: unknown) => (isEntry(cause) ? { ...cause, message: hiddenText } : hiddenText));
  return {
    ...status,
    message: hiddenText,
    ...(shown === undefined ? {} : { details: { ...(details as Entry), causes: shown } }),
  };
}

function keysOnly(data: Entry): Entry {
  return Object.fromEntries(Object.keys(data).map((key) => [key, hiddenText]));
}

function shownAnnotations(annotations: Entry): Entry {
  return Object.fromEntries(
    Object.entries(annotations).map(([key, value]) => [key, isShownSecretAnnotation(key) ? value : hiddenText]),
  );
}

/** Removes `metadata.managedFields` from an object, and from those of a list or a table. */
export function withoutManagedFields(value: unknown): unknown {
  if (!isEntry(value)) return value;
  const { metadata, items, rows } = value;
  if (isEntry(metadata) && metadata.managedFields !== undefined) {
    const { managedFields: _managedFields, ...rest } = metadata;
    value.metadata = rest;
  }
  if (Array.isArray(items)) value.items = items.map(withoutManagedFields);
  if (Array.isArray(rows)) {
    for (const row of rows as unknown[]) if (isEntry(row)) row.object = withoutManagedFields(row.object);
  }
  return value;
}

function isEntry(value: unknown): value is Entry {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
