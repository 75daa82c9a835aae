import type { GroupContext } from '../../registry/group-context.js';
import type { ResourceDefinition } from '../../registry/resource-definition.js';
import { podResource } from './pod/pod.resource.js';
import { podTemplateResource } from './pod-template/pod-template.resource.js';
import { replicationControllerResource } from './replication-controller/replication-controller.resource.js';

/** Pods and the kinds of the core group that are made of pod templates. */
export function coreWorkloadResources(context: GroupContext): ResourceDefinition[] {
  return [podResource(context), podTemplateResource(context.names), replicationControllerResource(context.names)];
}
