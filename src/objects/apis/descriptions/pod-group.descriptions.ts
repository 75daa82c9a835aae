import type { FieldDescriptions } from '../../../base/machinery/schema/index.js';

/** Descriptions of pod groups, in the API group `scheduling`. */
export const podGroupDescriptions: FieldDescriptions = {
  'scheduling.TopologyConstraint': {
    '': 'Keeps pods in one place.',
    key: 'Label of nodes that says where they are.',
  },
  'scheduling.WorkloadReference': {
    '': 'The template that a group was made from.',
    workloadName: 'Name of the workload.',
    templateName: 'Name of the template in it.',
  },
  'scheduling.BasicSchedulingPolicy': {
    '': 'Pods are scheduled one by one.',
  },
  'scheduling.GangSchedulingPolicy': {
    '': 'Pods are scheduled all or none.',
    minCount: 'How many must fit before any is bound.',
  },
  'scheduling.PodGroupSchedulingPolicy': {
    '': 'How pods of the group are scheduled; one of the fields is set.',
    basic: 'One by one.',
    gang: 'All or none.',
  },
  'scheduling.PodGroupSchedulingConstraints': {
    '': 'Where pods of the group may run.',
    topology: 'Places that all pods must share.',
  },
  'scheduling.PodGroupResourceClaim': {
    '': 'A claim that all pods of the group share.',
    name: 'Name by which pods refer to it.',
    resourceClaimName: 'An existing claim.',
    resourceClaimTemplateName: 'Template from which the claim of the group is made.',
  },
  'scheduling.SingleDisruptionMode': {
    '': 'Pods are disrupted one by one.',
  },
  'scheduling.AllDisruptionMode': {
    '': 'Pods are disrupted all together.',
  },
  'scheduling.DisruptionMode': {
    '': 'How pods of the group give way; one of the fields is set.',
    single: 'One by one.',
    all: 'All together.',
  },
  'scheduling.WorkloadPodGroupBasicSchedulingPolicy': {
    '': 'Pods are scheduled one by one.',
  },
  'scheduling.WorkloadPodGroupGangSchedulingPolicy': {
    '': 'Pods are scheduled all or none.',
    minCount: 'How many must fit before any is bound; the parallelism of the workload if not given.',
  },
  'scheduling.WorkloadPodGroupSchedulingPolicy': {
    '': 'How pods of a workload are scheduled; one of the fields is set.',
    basic: 'One by one.',
    gang: 'All or none.',
  },
  'scheduling.WorkloadPodGroupSchedulingConstraints': {
    '': 'Where pods of a workload may run.',
    topology: 'Places that all pods must share.',
  },
  'scheduling.WorkloadPodGroupResourceClaim': {
    '': 'A claim that all pods of a workload share.',
    name: 'Name by which pods refer to it.',
    resourceClaimName: 'An existing claim.',
    resourceClaimTemplateName: 'Template from which the claim is made.',
  },
  'scheduling.WorkloadPodGroupSingleDisruptionMode': {
    '': 'Pods are disrupted one by one.',
  },
  'scheduling.WorkloadPodGroupAllDisruptionMode': {
    '': 'Pods are disrupted all together.',
  },
  'scheduling.WorkloadPodGroupDisruptionMode': {
    '': 'How pods of a workload give way; one of the fields is set.',
    single: 'One by one.',
    all: 'All together.',
  },
  'scheduling.PodGroupResourceClaimStatus': {
    '': 'The claim made for the group.',
    name: 'Name by which pods refer to it.',
    resourceClaimName: 'Name of the claim.',
  },
  'scheduling.PodGroupSpec': {
    '': 'How the group is scheduled.',
    parentCompositePodGroupName: 'The group of groups that it belongs to.',
    workloadRef: 'The template that it was made from.',
    schedulingPolicy: 'How its pods are scheduled.',
    schedulingConstraints: 'Where its pods may run.',
    resourceClaims: 'Claims that its pods share.',
    disruptionMode: 'How its pods give way.',
    priorityClassName: 'Class that its priority follows from.',
    priority: 'Its priority.',
    preemptionPolicy: 'Whether it may make others go.',
  },
  'scheduling.PodGroupStatus': {
    '': 'How far the group has got.',
    conditions: 'Aspects of the state, each with its reason.',
    resourceClaimStatuses: 'Claims that were made for the group.',
  },
  'scheduling.CompositeBasicSchedulingPolicy': {
    '': 'Groups are scheduled one by one.',
  },
  'scheduling.CompositeGangSchedulingPolicy': {
    '': 'Groups are scheduled all or none.',
    minGroupCount: 'How many groups must fit before any is bound.',
  },
  'scheduling.CompositePodGroupSchedulingPolicy': {
    '': 'How the groups are scheduled; one of the fields is set.',
    basic: 'One by one.',
    gang: 'All or none.',
  },
  'scheduling.CompositePodGroupSchedulingConstraints': {
    '': 'Where pods of the groups may run.',
    topology: 'Places that all pods must share.',
  },
  'scheduling.SingleCompositeDisruptionMode': {
    '': 'Groups are disrupted one by one.',
  },
  'scheduling.AllCompositeDisruptionMode': {
    '': 'Groups are disrupted all together.',
  },
  'scheduling.CompositeDisruptionMode': {
    '': 'How the groups give way; one of the fields is set.',
    single: 'One by one.',
    all: 'All together.',
  },
  'scheduling.CompositePodGroupSpec': {
    '': 'How the groups are scheduled.',
    parentCompositePodGroupName: 'The group of groups that it belongs to.',
    workloadRef: 'The template that it was made from.',
    schedulingPolicy: 'How its groups are scheduled.',
    schedulingConstraints: 'Where its pods may run.',
    disruptionMode: 'How its groups give way.',
    priorityClassName: 'Class that its priority follows from.',
    priority: 'Its priority.',
    preemptionPolicy: 'Whether it may make others go.',
  },
  'scheduling.CompositePodGroupStatus': {
    '': 'How far the groups have got.',
    conditions: 'Aspects of the state, each with its reason.',
  },
  'scheduling.TypedLocalObjectReference': {
    '': 'An object of the same namespace.',
    apiGroup: 'API group of the object; empty is the core group.',
    kind: 'Its kind.',
    name: 'Its name.',
  },
  'scheduling.PodGroupTemplate': {
    '': 'What groups of pods look like.',
    name: 'Name of the template.',
    schedulingPolicy: 'How pods are scheduled.',
    schedulingConstraints: 'Where pods may run.',
    resourceClaims: 'Claims that pods of a group share.',
    disruptionMode: 'How pods give way.',
    priorityClassName: 'Class that the priority follows from.',
    priority: 'The priority.',
    preemptionPolicy: 'Whether a group may make others go.',
  },
  'scheduling.CompositePodGroupTemplate': {
    '': 'What groups of groups look like.',
    name: 'Name of the template.',
    schedulingPolicy: 'How groups are scheduled.',
    schedulingConstraints: 'Where pods may run.',
    disruptionMode: 'How groups give way.',
    priorityClassName: 'Class that the priority follows from.',
    priority: 'The priority.',
    preemptionPolicy: 'Whether the groups may make others go.',
    podGroupTemplates: 'Groups of pods in it.',
    compositePodGroupTemplates: 'Groups of groups in it.',
  },
  'scheduling.WorkloadSpec': {
    '': 'The templates.',
    controllerRef: 'The object that the workload belongs to.',
    podGroupTemplates: 'Groups of pods.',
    compositePodGroupTemplates: 'Groups of groups.',
  },
};
