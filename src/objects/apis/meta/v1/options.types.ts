import {
  bool,
  enumOf,
  type Infer,
  int64,
  kind,
  list,
  optional,
  pointer,
  required,
  string,
  struct,
} from '../../../../base/machinery/schema/index.js';

export const applyOptions = kind(
  { group: '', version: 'v1', kind: 'ApplyOptions' },
  {
    dryRun: optional(1, list(string)),
    force: required(2, bool),
    fieldManager: required(3, string),
  },
  { name: 'meta.v1.ApplyOptions', doc: 'How an apply is done.' },
);
export type ApplyOptions = Infer<typeof applyOptions>;

export const createOptions = kind(
  { group: '', version: 'v1', kind: 'CreateOptions' },
  {
    dryRun: optional(1, list(string)),
    fieldManager: optional(3, string),
    fieldValidation: optional(4, string),
  },
  { name: 'meta.v1.CreateOptions', doc: 'How a create is done.' },
);
export type CreateRequestOptions = Infer<typeof createOptions>;

export const preconditions = struct(
  'meta.v1.Preconditions',
  {
    uid: pointer(1, string, { doc: 'Identity that the object must have.' }),
    resourceVersion: pointer(2, string, { doc: 'Version that the object must have.' }),
  },
  { doc: 'Conditions of a delete.' },
);
export type Preconditions = Infer<typeof preconditions>;

export const deletionPropagation = enumOf('Background', 'Foreground', 'Orphan');
export type DeletionPropagation = Infer<typeof deletionPropagation>;

export const deleteOptions = kind(
  { group: '', version: 'v1', kind: 'DeleteOptions' },
  {
    gracePeriodSeconds: pointer(1, int64, { doc: 'Time to end by itself, in seconds; 0 for at once.' }),
    preconditions: pointer(2, preconditions, { doc: 'What must hold for the delete to happen.' }),
    orphanDependents: pointer(3, bool, { doc: 'Former way to say whether dependents stay.' }),
    propagationPolicy: pointer(4, deletionPropagation, {
      doc: 'What becomes of dependents: Orphan, Background or Foreground.',
    }),
    dryRun: optional(5, list(string), { doc: 'All to go through everything but the write.' }),
    ignoreStoreReadErrorWithClusterBreakingPotential: pointer(6, bool),
  },
  { name: 'meta.v1.DeleteOptions', doc: 'How an object is to be deleted.' },
);
export type DeleteOptions = Infer<typeof deleteOptions>;

export const getOptions = kind(
  { group: '', version: 'v1', kind: 'GetOptions' },
  {
    resourceVersion: optional(1, string),
  },
  { name: 'meta.v1.GetOptions', doc: 'How a get is done.' },
);
export type GetOptions = Infer<typeof getOptions>;

export const resourceVersionMatch = enumOf('Exact', 'NotOlderThan');
export type ResourceVersionMatch = Infer<typeof resourceVersionMatch>;

export const listOptions = kind(
  { group: '', version: 'v1', kind: 'ListOptions' },
  {
    labelSelector: optional(1, string, { doc: 'Chooses by labels.' }),
    fieldSelector: optional(2, string),
    watch: optional(3, bool),
    allowWatchBookmarks: optional(9, bool),
    resourceVersion: optional(4, string),
    resourceVersionMatch: optional(10, resourceVersionMatch),
    timeoutSeconds: pointer(5, int64),
    limit: optional(7, int64),
    continue: optional(8, string),
    sendInitialEvents: pointer(11, bool),
    shardSelector: optional(15, string),
  },
  { name: 'meta.v1.ListOptions', doc: 'What a list or a watch covers.' },
);
export type ListOptions = Infer<typeof listOptions>;

export const patchOptions = kind(
  { group: '', version: 'v1', kind: 'PatchOptions' },
  {
    dryRun: optional(1, list(string)),
    force: pointer(2, bool),
    fieldManager: optional(3, string),
    fieldValidation: optional(4, string),
  },
  { name: 'meta.v1.PatchOptions', doc: 'How a patch is done.' },
);
export type PatchOptions = Infer<typeof patchOptions>;

export const includeObjectPolicy = enumOf('Metadata', 'None', 'Object');
export type IncludeObjectPolicy = Infer<typeof includeObjectPolicy>;

export const tableOptions = kind(
  { group: '', version: 'v1', kind: 'TableOptions' },
  {
    includeObject: optional(1, includeObjectPolicy),
  },
  { name: 'meta.v1.TableOptions', doc: 'How a table is made.' },
);
export type TableOptions = Infer<typeof tableOptions>;

export const updateOptions = kind(
  { group: '', version: 'v1', kind: 'UpdateOptions' },
  {
    dryRun: optional(1, list(string)),
    fieldManager: optional(2, string),
    fieldValidation: optional(3, string),
  },
  { name: 'meta.v1.UpdateOptions', doc: 'How an update is done.' },
);
export type UpdateRequestOptions = Infer<typeof updateOptions>;
