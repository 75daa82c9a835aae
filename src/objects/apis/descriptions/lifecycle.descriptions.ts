import type { FieldDescriptions } from '../../../base/machinery/schema/index.js';

/**
 * Descriptions of kinds that few clusters serve: lease candidates, evictions, storage migrations and storage versions.
 */
export const lifecycleDescriptions: FieldDescriptions = {
  'storagemigration.StorageVersionMigrationSpec': {
    '': 'What is migrated.',
    resource: 'The resource whose objects are written again.',
  },
  'storagemigration.StorageVersionMigrationStatus': {
    '': 'How far the migration has got.',
    conditions: 'Aspects of the state, each with its reason.',
    resourceVersion: 'Version of the list of objects that are written again.',
  },
  'coordination.LeaseCandidateSpec': {
    '': 'Who offers to hold the lease.',
    leaseName: 'The lease.',
    pingTime: 'When the candidate was last asked whether it is there.',
    renewTime: 'When the candidate last said that it is there.',
    binaryVersion: 'Version of the program.',
    emulationVersion: 'Version that the program behaves like.',
    strategy: 'How the holder is chosen among the candidates.',
  },
  'lifecycle.EvictionRequestPodReference': {
    '': 'The pod.',
    name: 'Its name.',
    uid: 'Its identity.',
  },
  'lifecycle.EvictionRequestTarget': {
    '': 'What is to go.',
    pod: 'The pod.',
  },
  'lifecycle.EvictionRequestSpec': {
    '': 'What is to go, and who wants it.',
    target: 'What is to go.',
    requester: 'Who asks: a name with a domain.',
    intent: 'Eviction, or Withdrawn when it is no longer wanted.',
  },
  'lifecycle.EvictionRequestStatus': {
    '': 'How far it has got.',
    conditions: 'Aspects of the state, each with its reason.',
    observedGeneration: 'Generation of the request that the status is about.',
  },
  'lifecycle.EvictionPodReference': {
    '': 'The pod.',
    name: 'Its name.',
    uid: 'Its identity.',
  },
  'lifecycle.EvictionTarget': {
    '': 'What is to go.',
    pod: 'The pod.',
  },
  'lifecycle.Requester': {
    '': 'Who asks.',
    name: 'The name, with a domain.',
    intent: 'Eviction, or Withdrawn when it is no longer wanted.',
  },
  'lifecycle.TargetResponder': {
    '': 'Who can make the pod go.',
    name: 'The name, with a domain.',
    priority: 'The higher one acts first.',
    state: 'Inactive, Active, Interrupted, Canceled or Completed.',
  },
  'lifecycle.ResponderStatus': {
    '': 'What one who makes the pod go says.',
    name: 'The name, with a domain.',
    startTime: 'When it began.',
    heartbeatTime: 'When it last said that it is at work.',
    expectedCompletionTime: 'When it expects to be done.',
    completionTime: 'When it was done.',
    message: 'What it says, for people.',
  },
  'lifecycle.EvictionSpec': {
    '': 'What is to go.',
    target: 'What is to go.',
  },
  'lifecycle.EvictionStatus': {
    '': 'How far it has got.',
    conditions: 'Aspects of the state, each with its reason.',
    observedGeneration: 'Generation of the object that the status is about.',
    requesters: 'Who asks.',
    targetResponders: 'Who can make the pod go, and whose turn it is.',
    responders: 'What they say.',
  },
  'apiserverinternal.ServerStorageVersion': {
    '': 'What one server stores.',
    apiServerID: 'The server.',
    encodingVersion: 'Version that it stores objects in.',
    decodableVersions: 'Versions that it can read.',
    servedVersions: 'Versions that it serves.',
  },
  'apiserverinternal.StorageVersionCondition': {
    '': 'One aspect of the state.',
    type: 'Name of the aspect.',
    status: 'True, False or Unknown.',
    observedGeneration: 'Generation of the object that it is about.',
    lastTransitionTime: 'When the status last changed.',
    reason: 'Why, as one word.',
    message: 'Why, for people.',
  },
  'apiserverinternal.StorageVersionSpec': {
    '': 'Empty.',
  },
  'apiserverinternal.StorageVersionStatus': {
    '': 'What the servers store.',
    storageVersions: 'The servers.',
    commonEncodingVersion: 'The version that all servers store, if it is the same.',
    conditions: 'Aspects of the state, each with its reason.',
  },
};
