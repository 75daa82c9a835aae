import type { ApiObject } from '../../../base/machinery/api-object.js';
import { type LabelSelector, labelSelectorFromObject, nothing } from '../../../base/machinery/label-selector.js';
import type { ReplicaSet, ReplicaSetStatus } from '../../../objects/apis/apps/v1/replica-set.types.js';
import type { PodTemplateSpec } from '../../../objects/apis/core/v1/pod-spec.types.js';
import type { ReplicationController } from '../../../objects/apis/core/v1/replication-controller.types.js';
import { rememberedSelectors } from '../frame/selected-objects.js';

/** What replica sets and replication controllers share. */
export interface Replicated extends ApiObject {
  spec: { replicas?: number; minReadySeconds?: number; template?: PodTemplateSpec; selector?: unknown };
  status: ReplicaSetStatus;
}

/** A kind whose objects keep a number of identical pods. */
export interface ReplicatedKind {
  /** The service account of the controller, which is also the component in its events. */
  readonly account: string;
  readonly group: string;
  readonly resource: string;
  readonly kind: string;
  /** Whether the status counts pods that are being deleted. */
  readonly countsTerminating: boolean;
  /** The selector of its pods; matches nothing when it is not valid. */
  readonly selectorOf: (object: Replicated) => LabelSelector;
}

/** The kind ReplicaSet. */
export const replicaSets: ReplicatedKind = {
  account: 'replicaset-controller',
  group: 'apps',
  resource: 'replicasets',
  kind: 'ReplicaSet',
  countsTerminating: true,
  selectorOf: rememberedSelectors((object: Replicated) => {
    const { selector } = (object as ApiObject as ReplicaSet & ApiObject).spec;
    return labelSelectorFromObject(selector);
  }),
};

/** The kind ReplicationController. */
export const replicationControllers: ReplicatedKind = {
  account: 'replication-controller',
  group: '',
  resource: 'replicationcontrollers',
  kind: 'ReplicationController',
  countsTerminating: false,
  selectorOf: rememberedSelectors((object: Replicated) => {
    const { selector = {} } = (object as ApiObject as ReplicationController & ApiObject).spec;
    return Object.keys(selector).length === 0 ? nothing : labelSelectorFromObject({ matchLabels: selector });
  }),
};
