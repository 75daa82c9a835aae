import type { ParameterModel } from './operation-model.js';

function query(name: string, type: ParameterModel['type'], description: string): ParameterModel {
  return { name, in: 'query', type, description };
}

const dryRun = query('dryRun', 'string', 'All: run every step of the write but store nothing.');
const fieldManager = query(
  'fieldManager',
  'string',
  'Name of the writer, for the ownership of fields. At most 128 printable characters; required for apply.',
);
const fieldValidation = query(
  'fieldValidation',
  'string',
  'Treatment of unknown and duplicate fields in the body: Ignore, Warn (the default) or Strict.',
);
const force = query('force', 'boolean', 'Apply takes over fields that others own. Only for apply.');

const fieldSelector = query(
  'fieldSelector',
  'string',
  'Limits the list of returned objects to those whose fields match.',
);
const labelSelector = query(
  'labelSelector',
  'string',
  'Limits the list of returned objects to those whose labels match.',
);
const limit = query('limit', 'integer', 'Most objects in one answer; a continue token leads to the next ones.');
const continueToken = query('continue', 'string', 'Token of the previous answer: continue after its last object.');
const resourceVersion = query('resourceVersion', 'string', 'Version of the requested data.');
const resourceVersionMatch = query(
  'resourceVersionMatch',
  'string',
  'How to apply resourceVersion: Exact or NotOlderThan.',
);
const timeoutSeconds = query('timeoutSeconds', 'integer', 'The server ends the request after this time.');
const sendInitialEvents = query(
  'sendInitialEvents',
  'boolean',
  'A watch begins with an event for each existing object.',
);
const shardSelector = query(
  'shardSelector',
  'string',
  'A part of the objects, by hash ranges; ignored, as its gate is off.',
);

const deletion: readonly ParameterModel[] = [
  dryRun,
  query('gracePeriodSeconds', 'integer', 'Seconds for the object to shut down; 0 deletes at once.'),
  query(
    'ignoreStoreReadErrorWithClusterBreakingPotential',
    'boolean',
    'Deletes one object even if what is stored of it cannot be read. Not for several objects.',
  ),
  query('orphanDependents', 'boolean', 'Deprecated: use propagationPolicy.'),
  query('propagationPolicy', 'string', 'Treatment of dependents: Orphan, Background or Foreground.'),
];

/** The parameters that determine the objects of a list, their version and their number. */
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

/** Query parameters by request type, as published upstream. */
export const queryParameters = {
  list: [
    query('allowWatchBookmarks', 'boolean', 'A watch also gets events that only report its progress.'),
    ...selection,
    sendInitialEvents,
    shardSelector,
    query('watch', 'boolean', 'Watch for changes to the described resources: the answer is a stream of events.'),
  ].sort(byName),
  customGet: [resourceVersion],
  write: [dryRun, fieldManager, fieldValidation],
  patch: [dryRun, fieldManager, fieldValidation, force],
  delete: deletion,
  deleteCollection: [...selection, sendInitialEvents, shardSelector, ...deletion],
} as const satisfies Record<string, readonly ParameterModel[]>;

export const pretty = query('pretty', 'string', 'Indent the answer.');

export const namespaceParameter: ParameterModel = {
  name: 'namespace',
  in: 'path',
  type: 'string',
  description: 'Namespace of the objects.',
};

/** The `path` parameter of proxy requests. It is published as upstream, and forwarded with the query. */
export const proxyPath = query('path', 'string', 'Path of the request to the other server, when the URL has none.');

export const pathParameter: ParameterModel = {
  name: 'path',
  in: 'path',
  type: 'string',
  description: 'Path of the request to the other server.',
};

export function nameParameter(kind: string): ParameterModel {
  return { name: 'name', in: 'path', type: 'string', description: `Name of the ${kind}.` };
}

const listed: ReadonlySet<ParameterModel> = new Set([
  ...Object.values(queryParameters).flat(),
  pretty,
  proxyPath,
  namespaceParameter,
  pathParameter,
]);

/** The parameters that many operations share, and that a Swagger document therefore describes only once. */
export function sharedParameters(): Iterable<ParameterModel> {
  return listed;
}
