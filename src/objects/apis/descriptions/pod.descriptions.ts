import type { FieldDescriptions } from '../../../base/machinery/schema/index.js';

const stdin = 'Whether input is sent.';
const stdout = 'Whether output is wanted.';
const stderr = 'Whether error output is wanted.';
const tty = 'Whether there is a terminal.';
const container = 'Name of the container; may be left out when there is only one.';
const podTerms = {
  requiredDuringSchedulingIgnoredDuringExecution: 'Must hold when the pod is placed; not looked at later.',
  preferredDuringSchedulingIgnoredDuringExecution: 'Wishes, each with a weight.',
};

/** Descriptions of pods and of where they run, in the core group. */
export const podDescriptions: FieldDescriptions = {
  'core.ContainerExtendedResourceRequest': {
    '': 'Which request of a claim stands for a resource of a container.',
    containerName: 'Name of the container.',
    resourceName: 'Name of the resource it asks for.',
    requestName: 'Name of the request in the claim.',
  },
  'core.HostAlias': {
    '': 'A line of /etc/hosts.',
    ip: 'The address.',
    hostnames: 'Names of the address.',
  },
  'core.HostIP': { '': 'An address of the node.', ip: 'The address.' },
  'core.NodeAffinity': { '': 'Which nodes are wanted.', ...podTerms },
  'core.NodeAllocatableResourceClaimStatus': {
    '': 'What a claim takes of the node.',
    resourceClaimName: 'Name of the claim.',
    containers: 'Containers that use the claim.',
  },
  'core.NodeSelector': { '': 'Chooses nodes.', nodeSelectorTerms: 'A node must fit one of these.' },
  'core.NodeSelectorRequirement': {
    '': 'One demand on a node.',
    key: 'Name of the label or field.',
    operator: 'In, NotIn, Exists, DoesNotExist, Gt or Lt.',
    values: 'Values; one number for Gt and Lt, none for Exists and DoesNotExist.',
  },
  'core.NodeSelectorTerm': {
    '': 'Demands on a node, all of which must hold.',
    matchExpressions: 'Demands on labels.',
    matchFields: 'Demands on fields, such as metadata.name.',
  },
  'core.PodAffinity': { '': 'Near which pods to run.', ...podTerms },
  'core.PodAffinityTerm': {
    '': 'Pods, and what counts as near them.',
    namespaces: "Their namespaces; the pod's own if nothing is given here and in namespaceSelector.",
    topologyKey: 'Label of nodes: the same value is the same place.',
    matchLabelKeys: 'Labels that the pods must share with this one.',
    mismatchLabelKeys: 'Labels in which the pods must differ from this one.',
  },
  'core.PodAntiAffinity': { '': 'Away from which pods to run.', ...podTerms },
  'core.PodAttachOptions': { stdin, stdout, stderr, tty, container },
  'core.PodDNSConfig': {
    '': 'Settings of the resolver.',
    nameservers: 'Addresses of further servers.',
    searches: 'Further domains to search.',
    options: 'Further options.',
  },
  'core.PodDNSConfigOption': {
    '': 'An option of the resolver.',
    name: 'Name of the option, such as ndots.',
    value: 'Its value, if it has one.',
  },
  'core.PodExecOptions': {
    stdin,
    stdout,
    stderr,
    tty,
    container,
    command: 'Program and arguments; no shell is started.',
  },
  'core.PodExtendedResourceClaimStatus': {
    '': 'The claim that was made for resources of containers.',
    requestMappings: 'Which request stands for which resource.',
    resourceClaimName: 'Name of the claim.',
  },
  'core.PodIP': { '': 'An address of the pod.', ip: 'The address.' },
  'core.PodLogOptions': {
    container,
    follow: 'Whether to go on with what is written from now on.',
    previous: 'Whether it is the log of the run before.',
    sinceSeconds: 'Only the last so many seconds.',
    sinceTime: 'Only from this time on.',
    timestamps: 'Whether lines begin with their time.',
    tailLines: 'Only the last so many lines.',
    limitBytes: 'Stops after so many bytes.',
    insecureSkipTLSVerifyBackend: "True leaves the node's certificate unchecked.",
    stream: 'All (default), Stdout or Stderr.',
  },
  'core.PodOS': { '': 'Operating system of the containers.', name: 'linux or windows.' },
  'core.PodPortForwardOptions': { ports: 'Ports to forward.' },
  'core.PodProxyOptions': { path: 'Path of the request to the pod.' },
  'core.PodReadinessGate': {
    '': 'A condition that a ready pod must have.',
    conditionType: 'Name of the condition.',
  },
  'core.PodResourceClaim': {
    '': 'A claim for devices; one of the two names is set.',
    name: 'Name for use by the containers; unique in the pod.',
    resourceClaimName: 'Name of an existing claim.',
    resourceClaimTemplateName: 'Name of a template that a claim is made from.',
  },
  'core.PodResourceClaimStatus': {
    '': 'The claim that was made for an entry.',
    name: 'Name of the entry in the spec.',
    resourceClaimName: 'Name of the claim; none if none was needed.',
  },
  'core.PodSchedulingGate': { '': 'Holds the pod back from scheduling.', name: 'Who holds it; unique in the list.' },
  'core.PodSchedulingGroup': { '': 'Pods that are placed together.', podGroupName: 'Name of the group object.' },
  'core.PodSecurityContext': {
    supplementalGroupsPolicy: 'Whether groups of the image count too: Merge (default) or Strict.',
    seLinuxChangePolicy: 'How volumes get their label: MountOption or Recursive.',
  },
  'core.PodSpec': {
    hostnameOverride: 'Host name of the pod, before all other settings of it; needs no name in DNS.',
    schedulingGroup: 'Pods that this one is placed together with.',
  },
  'core.PodStatus': {
    resize: 'How far a change of resources has come. Old: see the conditions.',
    resourceClaimStatuses: 'Claims that were made from templates.',
    extendedResourceClaimStatus: 'Claim that was made for resources of containers.',
    allocatedResources: 'Requests that the node has set aside for the whole pod.',
    resources: 'Requests and limits of the whole pod in force.',
    nodeAllocatableResourceClaimStatuses: 'What claims take of the node.',
  },
  'core.PodTemplateSpec': { metadata: 'Labels and annotations of the pods.', spec: 'What the pods run.' },
  'core.PreferredSchedulingTerm': {
    '': 'A wish for nodes.',
    weight: 'How much it counts; 1 to 100.',
    preference: 'Nodes that are wished for.',
  },
  'core.TopologySpreadConstraint': {
    minDomains: 'With fewer places than this, the least filled counts as empty; 1 if not given.',
    nodeAffinityPolicy: 'Whether only nodes that the pod wants count: Honor (default) or Ignore.',
    nodeTaintsPolicy: 'Whether only nodes that it tolerates count: Honor or Ignore (default).',
    matchLabelKeys: 'Labels that counted pods must share with this one.',
  },
  'core.WeightedPodAffinityTerm': {
    '': 'A wish for nearness, or for distance.',
    weight: 'How much it counts; 1 to 100.',
    podAffinityTerm: 'Pods, and what counts as near them.',
  },
};
