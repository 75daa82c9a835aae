/** The role that may only read the views. It can't log in: grant it to roles that can. */
export const readerRole = 'plinth_reader';

/** The functions of schema `cluster`. Those of the history show what the caller may read now. */
const clusterFunctions = [
  'lag()',
  'wait_for(bigint, interval)',
  'history_size()',
  'history(text, text, text)',
  ...['bigint', 'timestamptz', 'text'].flatMap((moment) => [
    ...(moment === 'bigint' ? [] : [`version_at(${moment})`]),
    `as_of(text, ${moment}, text, text, jsonb)`,
    `changes_between(${moment}, ${moment}, text, text, text)`,
  ]),
];

/**
 * The functions that the views and the functions of schema `cluster` call with the rights of the reader. Functions that
 * read check these rights themselves, the others only compute. Nobody else can reach them: the schema is closed.
 */
const calledFunctions = [
  'to_jsonb(json)',
  'to_time(text)',
  'secret_annotations(jsonb)',
  'secret_object(jsonb)',
  'json_keys(jsonb)',
  'versioned_object(jsonb, bigint)',
  'object_owner(jsonb)',
  'object_images(jsonb)',
  'object_reasons(jsonb)',
  'whole_object(jsonb, jsonb, bigint)',
  'past_objects(text, bigint, text, text, jsonb)',
  'past_changes(bigint, bigint, text, text, text)',
  'shown_object(text, json, bigint)',
  'object_labels(json)',
  'shown_diff(jsonb, jsonb, boolean, boolean)',
  'field_manager(jsonb, jsonb)',
];

/** The functions that {@link readerRole} may execute, and nobody else but their owner. */
export const readerFunctions: readonly string[] = [
  ...clusterFunctions.map((signature) => `cluster.${signature}`),
  ...calledFunctions.map((signature) => `plinth.${signature}`),
];
