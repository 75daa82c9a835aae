/** The signals that may stop a container. */
const signals =
  'SIGABRT|SIGALRM|SIGBUS|SIGCHLD|SIGCLD|SIGCONT|SIGFPE|SIGHUP|SIGILL|SIGINT|SIGIO|SIGIOT|SIGKILL|SIGPIPE|' +
  'SIGPOLL|SIGPROF|SIGPWR|SIGQUIT|SIGRTMAX|SIGRTMAX-1|SIGRTMAX-10|SIGRTMAX-11|SIGRTMAX-12|SIGRTMAX-13|' +
  'SIGRTMAX-14|SIGRTMAX-2|SIGRTMAX-3|SIGRTMAX-4|SIGRTMAX-5|SIGRTMAX-6|SIGRTMAX-7|SIGRTMAX-8|SIGRTMAX-9|' +
  'SIGRTMIN|SIGRTMIN+1|SIGRTMIN+10|SIGRTMIN+11|SIGRTMIN+12|SIGRTMIN+13|SIGRTMIN+14|SIGRTMIN+15|SIGRTMIN+2|' +
  'SIGRTMIN+3|SIGRTMIN+4|SIGRTMIN+5|SIGRTMIN+6|SIGRTMIN+7|SIGRTMIN+8|SIGRTMIN+9|SIGSEGV|SIGSTKFLT|SIGSTOP|' +
  'SIGSYS|SIGTERM|SIGTRAP|SIGTSTP|SIGTTIN|SIGTTOU|SIGURG|SIGUSR1|SIGUSR2|SIGVTALRM|SIGWINCH|SIGXCPU|' +
  'SIGXFSZ';

/**
 * The values that release 1.37 publishes in OpenAPI documents for fields that are strings, or lists or maps of strings:
 * by type (of every version, or of one: `core.Probe`, `core.v1.Probe`) and field, separated by bars. Only documents use
 * them: the validation of a kind decides which values its fields accept.
 */
export const enumValues: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'admissionregistration.MatchResources': { matchPolicy: 'Equivalent|Exact' },
  'admissionregistration.MutatingAdmissionPolicySpec': {
    failurePolicy: 'Fail|Ignore',
    reinvocationPolicy: 'IfNeeded|Never',
  },
  'admissionregistration.MutatingWebhook': {
    failurePolicy: 'Fail|Ignore',
    matchPolicy: 'Equivalent|Exact',
    reinvocationPolicy: 'IfNeeded|Never',
    sideEffects: 'None|NoneOnDryRun|Some|Unknown',
  },
  'admissionregistration.Mutation': { patchType: 'ApplyConfiguration|JSONPatch' },
  'admissionregistration.NamedRuleWithOperations': {
    operations: '*|CONNECT|CREATE|DELETE|UPDATE',
    scope: '*|Cluster|Namespaced',
  },
  'admissionregistration.v1alpha1.ParamRef': { parameterNotFoundAction: 'Allow|Deny' },
  'admissionregistration.RuleWithOperations': {
    operations: '*|CONNECT|CREATE|DELETE|UPDATE',
    scope: '*|Cluster|Namespaced',
  },
  'admissionregistration.ValidatingAdmissionPolicyBindingSpec': { validationActions: 'Audit|Deny|Warn' },
  'admissionregistration.ValidatingAdmissionPolicySpec': { failurePolicy: 'Fail|Ignore' },
  'admissionregistration.ValidatingWebhook': {
    failurePolicy: 'Fail|Ignore',
    matchPolicy: 'Equivalent|Exact',
    sideEffects: 'None|NoneOnDryRun|Some|Unknown',
  },
  'apiextensions.ValidationRule': {
    reason: 'FieldValueDuplicate|FieldValueForbidden|FieldValueInvalid|FieldValueRequired',
  },
  'apps.DaemonSetUpdateStrategy': { type: 'OnDelete|RollingUpdate' },
  'apps.DeploymentStrategy': { type: 'Recreate|RollingUpdate' },
  'apps.StatefulSetSpec': { podManagementPolicy: 'OrderedReady|Parallel' },
  'apps.StatefulSetUpdateStrategy': { type: 'OnDelete|Recreate|RollingUpdate' },
  'batch.CronJobSpec': { concurrencyPolicy: 'Allow|Forbid|Replace' },
  'batch.JobSpec': { completionMode: 'Indexed|NonIndexed', podReplacementPolicy: 'Failed|TerminatingOrFailed' },
  'batch.PodFailurePolicyOnExitCodesRequirement': { operator: 'In|NotIn' },
  'batch.PodFailurePolicyRule': { action: 'Count|FailIndex|FailJob|Ignore' },
  'certificates.CertificateSigningRequestSpec': {
    usages:
      'any|cert sign|client auth|code signing|content commitment|crl sign|data encipherment|decipher only|' +
      'digital signature|email protection|encipher only|ipsec end system|ipsec tunnel|ipsec user|key agreement|' +
      'key encipherment|microsoft sgc|netscape sgc|ocsp signing|s/mime|server auth|signing|timestamping',
  },
  'core.AppArmorProfile': { type: 'Localhost|RuntimeDefault|Unconfined' },
  'core.AzureDiskVolumeSource': { cachingMode: 'None|ReadOnly|ReadWrite', kind: 'Dedicated|Managed|Shared' },
  'core.Container': {
    imagePullPolicy: 'Always|IfNotPresent|Never',
    terminationMessagePolicy: 'FallbackToLogsOnError|File',
  },
  'core.ContainerPort': { protocol: 'SCTP|TCP|UDP' },
  'core.ContainerStatus': { stopSignal: signals },
  'core.EndpointPort': { protocol: 'SCTP|TCP|UDP' },
  'core.EphemeralContainer': {
    imagePullPolicy: 'Always|IfNotPresent|Never',
    terminationMessagePolicy: 'FallbackToLogsOnError|File',
  },
  'core.GRPCAction': { mode: 'Plaintext|TLS' },
  'core.HTTPGetAction': { protocol: 'HTTP1|HTTP2', scheme: 'HTTP|HTTPS' },
  'core.HostPathVolumeSource': { type: '|BlockDevice|CharDevice|Directory|DirectoryOrCreate|File|FileOrCreate|Socket' },
  'core.ImageVolumeSource': { pullPolicy: 'Always|IfNotPresent|Never' },
  'core.Lifecycle': { stopSignal: signals },
  'core.ModifyVolumeStatus': { status: 'InProgress|Infeasible|Pending' },
  'core.NamespaceStatus': { phase: 'Active|Terminating' },
  'core.NodeSelectorRequirement': { operator: 'DoesNotExist|Exists|Gt|In|Lt|NotIn' },
  'core.NodeStatus': { phase: 'Pending|Running|Terminated' },
  'core.PersistentVolumeClaimSpec': {
    accessModes: 'ReadOnlyMany|ReadWriteMany|ReadWriteOnce|ReadWriteOncePod',
    volumeMode: 'Block|Filesystem',
  },
  'core.PersistentVolumeClaimStatus': {
    accessModes: 'ReadOnlyMany|ReadWriteMany|ReadWriteOnce|ReadWriteOncePod',
    allocatedResourceStatuses:
      'ControllerResizeInProgress|ControllerResizeInfeasible|NodeResizeInProgress|NodeResizeInfeasible|' +
      'NodeResizePending',
    phase: 'Bound|Lost|Pending',
  },
  'core.PersistentVolumeSpec': {
    accessModes: 'ReadOnlyMany|ReadWriteMany|ReadWriteOnce|ReadWriteOncePod',
    persistentVolumeReclaimPolicy: 'Delete|Recycle|Retain',
    volumeMode: 'Block|Filesystem',
  },
  'core.PersistentVolumeStatus': { phase: 'Available|Bound|Failed|Pending|Released' },
  'core.PodSecurityContext': { fsGroupChangePolicy: 'Always|OnRootMismatch', supplementalGroupsPolicy: 'Merge|Strict' },
  'core.PodSpec': {
    dnsPolicy: 'ClusterFirst|ClusterFirstWithHostNet|Default|None',
    preemptionPolicy: 'Never|PreemptLowerPriority',
    restartPolicy: 'Always|Never|OnFailure',
  },
  'core.PodStatus': { phase: 'Failed|Pending|Running|Succeeded|Unknown', qosClass: 'BestEffort|Burstable|Guaranteed' },
  'core.PortStatus': { protocol: 'SCTP|TCP|UDP' },
  'core.ResourceQuotaSpec': {
    scopes:
      'BestEffort|CrossNamespacePodAffinity|NotBestEffort|NotTerminating|PriorityClass|Terminating|' +
      'VolumeAttributesClass',
  },
  'core.ScopedResourceSelectorRequirement': {
    operator: 'DoesNotExist|Exists|In|NotIn',
    scopeName:
      'BestEffort|CrossNamespacePodAffinity|NotBestEffort|NotTerminating|PriorityClass|Terminating|' +
      'VolumeAttributesClass',
  },
  'core.SeccompProfile': { type: 'Localhost|RuntimeDefault|Unconfined' },
  'core.SecurityContext': { procMount: 'Default|Unmasked' },
  'core.ServicePort': { protocol: 'SCTP|TCP|UDP' },
  'core.ServiceSpec': {
    externalTrafficPolicy: 'Cluster|Local',
    internalTrafficPolicy: 'Cluster|Local',
    ipFamilies: '|IPv4|IPv6',
    ipFamilyPolicy: 'PreferDualStack|RequireDualStack|SingleStack',
    sessionAffinity: 'ClientIP|None',
    type: 'ClusterIP|ExternalName|LoadBalancer|NodePort',
  },
  'core.Taint': { effect: 'NoExecute|NoSchedule|PreferNoSchedule' },
  'core.Toleration': { effect: 'NoExecute|NoSchedule|PreferNoSchedule', operator: 'Equal|Exists|Gt|Lt' },
  'core.TopologySpreadConstraint': {
    nodeAffinityPolicy: 'Honor|Ignore',
    nodeTaintsPolicy: 'Honor|Ignore',
    whenUnsatisfiable: 'DoNotSchedule|ScheduleAnyway',
  },
  'core.VolumeHealthCondition': { status: 'DataLoss|Degraded|Inaccessible' },
  'core.VolumeMount': { mountPropagation: 'Bidirectional|HostToContainer|None' },
  'discovery.EndpointPort': { protocol: 'SCTP|TCP|UDP' },
  'discovery.EndpointSlice': { addressType: 'FQDN|IPv4|IPv6' },
  'lifecycle.EvictionRequestSpec': { intent: 'Eviction|Withdrawn' },
  'lifecycle.Requester': { intent: 'Eviction|Withdrawn' },
  'lifecycle.TargetResponder': { state: 'Active|Canceled|Completed|Inactive|Interrupted' },
  'networking.HTTPIngressPath': { pathType: 'Exact|ImplementationSpecific|Prefix' },
  'networking.IngressPortStatus': { protocol: 'SCTP|TCP|UDP' },
  'networking.NetworkPolicyPort': { protocol: 'SCTP|TCP|UDP' },
  'networking.NetworkPolicySpec': { policyTypes: 'Egress|Ingress' },
  'policy.PodDisruptionBudgetSpec': { unhealthyPodEvictionPolicy: 'AlwaysAllow|IfHealthyBudget' },
  'resource.DeviceAllocationConfiguration': { source: 'FromClaim|FromClass' },
  'resource.DeviceRequest': { allocationMode: 'All|ExactCount' },
  'resource.DeviceRequestAllocationResult': { skipNodeOperations: '*|NodePrepareResources|NodeUnprepareResources' },
  'resource.DeviceSubRequest': { allocationMode: 'All|ExactCount' },
  'resource.DeviceTaint': { effect: 'NoExecute|NoSchedule|None' },
  'resource.DeviceToleration': { effect: 'NoExecute|NoSchedule|None', operator: 'Equal|Exists' },
  'resource.ExactDeviceRequest': { allocationMode: 'All|ExactCount' },
  'resource.ResourceSliceSpec': { skipNodeOperations: '*|NodePrepareResources|NodeUnprepareResources' },
  'scheduling.CompositePodGroupSpec': { preemptionPolicy: 'Never|PreemptLowerPriority' },
  'scheduling.CompositePodGroupTemplate': { preemptionPolicy: 'Never|PreemptLowerPriority' },
  'scheduling.PodGroupSpec': { preemptionPolicy: 'Never|PreemptLowerPriority' },
  'scheduling.PodGroupTemplate': { preemptionPolicy: 'Never|PreemptLowerPriority' },
  'scheduling.PriorityClass': { preemptionPolicy: 'Never|PreemptLowerPriority' },
  'storage.StorageClass': {
    reclaimPolicy: 'Delete|Recycle|Retain',
    volumeBindingMode: 'Immediate|WaitForFirstConsumer',
  },
  'storage.StorageHealthCondition': {
    accessMode: 'ReadOnlyMany|ReadWriteMany|ReadWriteOnce|ReadWriteOncePod',
    status: 'StorageDegraded|StorageUnreachable',
    volumeMode: 'Block|Filesystem',
  },
};
