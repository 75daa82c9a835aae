import type { ParameterModel } from './operation-model.js';

function query(name: string, type: ParameterModel['type'], description: string): ParameterModel {
  return { name, in: 'query', type, description };
}

const dryRun = query('dryRun', 'string', 'All: go through every step of the write but keep nothing.');
const fieldManager = query(
  'fieldManager',
  'string',
  'Name of who writes, for the ownership of fields. At most 128 printable characters; required for apply.',
);
const fieldValidation = query(
  'fieldValidation',
  'string',
  'What unknown and duplicate fields of the body lead to: Ignore, Warn (the default) or Strict.',
);
const force = query('force', 'boolean', 'Apply takes over fields that others own. Only for apply.');

const fieldSelector = query('fieldSelector', 'string', 'Only objects whose fields match.');
const labelSelector = query('labelSelector', 'string', 'Only objects whose labels match.');
const limit = query('limit', 'integer', 'Most objects in one answer; a continue token leads to the next ones.');
const continueToken = query('continue', 'string', 'Token of the answer before: go on behind its last object.');
const resourceVersion = query('resourceVersion', 'string', 'Version of the data that is asked for.');
const resourceVersionMatch = query(
  'resourceVersionMatch',
  'string',
  'How resourceVersion is meant: Exact or NotOlderThan.',
);
const timeoutSeconds = query('timeoutSeconds', 'integer', 'The server ends the request after this time.');
const sendInitialEvents = query(
  'sendInitialEvents',
  'boolean',
  'A watch begins with an event for each object there is.',
);

const deletion: readonly ParameterModel[] = [
  dryRun,
  query('gracePeriodSeconds', 'integer', 'Time the object has to end by itself; 0 deletes at once.'),
  query('orphanDependents', 'boolean', 'Deprecated: use propagationPolicy.'),
  query('propagationPolicy', 'string', 'What becomes of dependents: Orphan, Background or Foreground.'),
];

/** Which objects a list shows, of which time, and how many. */
const selection: readonly ParameterModel[] = [
  continueToken,
  fieldSelector,
  labelSelector,
  limit,
  resourceVersion,
  resourceVersionMatch,
  timeoutSeconds,
];

const byName = (a: ParameterModel, b: ParameterModel) => (a.name < b.name ? -1 : 1);

/** Query parameters by what a request does: all that it honours, and no others. */
export const queryParameters = {
  read: [resourceVersion],
  /** Objects that are computed have no versions. */
  readComputed: [],
  list: selection,
  listComputed: [fieldSelector, labelSelector, timeoutSeconds],
  listOrWatch: [
    query('allowWatchBookmarks', 'boolean', 'A watch also gets events that only tell how far it is.'),
    ...selection,
    sendInitialEvents,
    query('watch', 'boolean', 'Stream changes instead of listing.'),
  ].sort(byName),
  write: [dryRun, fieldManager, fieldValidation],
  patch: [dryRun, fieldManager, fieldValidation, force],
  delete: deletion,
  deleteCollection: [...selection, ...deletion],
} as const satisfies Record<string, readonly ParameterModel[]>;

export const pretty = query('pretty', 'string', 'Indent the answer.');

export const namespaceParameter: ParameterModel = {
  name: 'namespace',
  in: 'path',
  type: 'string',
  description: 'Namespace of the objects.',
};

export function nameParameter(kind: string): ParameterModel {
  return { name: 'name', in: 'path', type: 'string', description: `Name of the ${kind}.` };
}
