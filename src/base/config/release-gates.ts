import type { FeatureStage } from './feature-stage.js';

/** Gates of the release that share stage, default and lock. */
interface GateGroup {
  readonly stage: FeatureStage;
  readonly isOnByDefault: boolean;
  readonly isLocked: boolean;
  /** Names, separated by white space. */
  readonly names: string;
}

/** Every feature gate that the servers of release 1.37 know, grouped. */
export const releaseGates: readonly GateGroup[] = [
  {
    stage: 'ALPHA',
    isOnByDefault: false,
    isLocked: false,
    names: `
      APIServerWebhookAuthenticationToken APIServingWithRoutine AtomicWriteVolumeUserFields
      CBORServingAndStorage CPUManagerPolicyAlphaOptions CRIListStreaming CSIVolumeHealth ClientsAllowCBOR
      ClientsPreferCBOR CloudControllerManagerWatchBasedRoutesReconciliation CloudControllerManagerWebhook
      CompositePodGroup ConsistentListFromCacheSkipTimeoutFallback ContainerStopSignals
      ControllerManagerReleaseLeaderElectionLockOnExit CrossNamespaceVolumeDataSource DRADerivedAttributes
      DRADeviceCompatibilityGroups DRAListTypeAttributes DRANodeAllocatableResources DRAOptionalNodeOperations
      DRAPartitionableDevicesType DRAResourcePoolStatus DefaultPodSysctls EmptyDirVolumeMode EventedPLEG
      EvictionRequestAPI GRPCContainerProbeTLS H2CContainerProbe ImageVolumeWithDigest
      InPlacePodVerticalScalingExclusiveCPUs InPlacePodVerticalScalingExclusiveMemory
      InPlacePodVerticalScalingMemoryBackedVolumes InPlacePodVerticalScalingSchedulerPreemption
      InterPodAffinityHostnameFastPath KubeProxyNFTablesLocalhostNodePorts KubeletAllocatedPodsEndpoint
      LoggingAlphaOptions MutablePVNodeAffinity NodeLifecycleConditions PodGroupPreemptionPolicy
      PodLogsQuerySplitStreams QOSReserved ReduceDefaultCrashLoopBackOffDecay RootlessControlPlane
      RuntimeClassInImageCriApi SchedulerPreQueueingHints ShardedListAndWatch StatefulSetRecreateStrategy
      StorageVersionAPI TaintTolerationComparisonOperators TopologyAwareWorkloadScheduling
      TopologyManagerPolicyAlphaOptions UserNamespacesHostNetworkSupport VolumeBindMountOptions
      WindowsCPUAndMemoryAffinity WorkloadWithJob
    `,
  },
  {
    stage: 'BETA',
    isOnByDefault: false,
    isLocked: false,
    names: `
      CoordinatedLeaderElection DRAFractionalCapacityRange DRAWorkloadResourceClaims GenericWorkload
      LocalStorageCapacityIsolationFSQuotaMonitoring PodAndContainerStatsFromCRI PodLevelResourceManagers
      SchedulerAsyncAPICalls
    `,
  },
  {
    stage: 'BETA',
    isOnByDefault: true,
    isLocked: false,
    names: `
      APIResponseCompression APIServerIdentity AllowParsingUserUIDFromCertAuth
      AllowUnsafeMalformedObjectDeletion AtomicFIFO AuthorizePodWebsocketUpgradeCreatePermission
      CPUManagerPolicyBetaOptions CRDObservedGenerationTracking ClearingNominatedNodeNameAfterBinding
      ClientsAllowCARotation ClientsAllowTLSCacheGC ComponentFlagz ComponentStatusz ConcurrentWatchObjectDecode
      ConstrainedImpersonation ContainerCheckpoint ContainerRestartRules ContextualLogging DRAConsumableCapacity
      DRADeviceBindingConditions DRAPartitionableDevices DRAResourceClaimGranularStatusAuthorization
      DRASchedulerFilterTimeout DeclarativeValidationBeta DeploymentReplicaSetTerminatingReplicas
      DetectCacheInconsistency EnvFiles EtcdRangeStream ExcludeAdmissionWebhookVirtualResources
      ExtendWebSocketsToKubelet GracefulNodeShutdown GracefulNodeShutdownBasedOnPodPriority HPAGeneration
      HPAOptimizedSelectorStore HPAScaleToZero HugepageAwareEviction InOrderInformersBatchProcess
      InPlacePodLevelResourcesVerticalScaling KubeletCrashLoopBackOffMax KubeletEnsureSecretPulledImages
      KubeletInUserNamespace KubeletSeparateDiskGC KubeletServiceAccountTokenForCredentialProviders
      ListFromCacheSnapshot LoggingBetaOptions ManifestBasedAdmissionControlConfig
      MatchLabelKeysInPodTopologySpread MatchLabelKeysInPodTopologySpreadSelectorMerge MaxUnavailableStatefulSet
      MemoryQoS MutablePodResourcesForSuspendedJobs MutableSchedulingDirectivesForSuspendedJobs NFTablesNetlink
      NativeHistograms NodeControllerLeaseCircuitBreaker NominatedNodeNameForExpectation OpenAPIEnums
      OpportunisticBatching PersistentVolumeClaimUnusedSinceTime PodDeletionCost PodLevelResources
      PodLevelResourcesFixDefaulting PodLevelResourcesFixKubeletQOSClass PodTopologyLabelsAdmission PodsAPI
      PortForwardWebsockets ReloadKubeletClientCAFile ReloadKubeletServerCertificateFile RemoteRequestHeaderUID
      ResourceHealthStatus ResourceHealthStatusMessage RestartAllContainersOnContainerExits
      RotateKubeletServerCertificate SchedulerAsyncPreemption SchedulerPopFromBackoffQ
      ServiceAccountNodeAudienceRestriction SizeBasedListCostEstimate StaleControllerConsistencyDaemonSet
      StaleControllerConsistencyHPA StaleControllerConsistencyJob StaleControllerConsistencyReplicaSet
      StaleControllerConsistencyStatefulSet StatefulSetSemanticRevisionComparison StorageCapacityScoring
      StorageVersionHash StrictIPCIDRValidation StructuredAuthenticationConfigurationEgressSelector
      StructuredAuthenticationConfigurationJWKSMetrics TokenRequestServiceAccountUIDValidation
      TopologyManagerPolicyBetaOptions TranslateStreamCloseWebsocketRequests UnauthenticatedHTTP2DOSMitigation
      UnknownVersionInteroperabilityProxy UnlockWhileProcessingFIFO VolumeLimitScaling WatchList WatchListClient
      WatchListCompression WebhookRoundTripLoadBalancing WindowsGracefulNodeShutdown
    `,
  },
  {
    stage: 'GA',
    isOnByDefault: true,
    isLocked: false,
    names: `
      AllowServiceExternalIPs ClusterTrustBundle ClusterTrustBundleProjection CustomCPUCFSQuotaPeriod
      DRADeviceTaintRules DRADeviceTaints InOrderInformers InformerResourceVersion MutatingAdmissionPolicy
      PodCertificateRequest SELinuxMount StorageVersionMigrator
    `,
  },
  {
    stage: 'GA',
    isOnByDefault: true,
    isLocked: true,
    names: `
      CPUManagerPolicyOptions CRDValidationRatcheting CSIServiceAccountTokenSecrets CustomResourceFieldSelectors
      DRAAdminAccess DRAExtendedResource DRAPrioritizedList DRAResourceClaimDeviceStatus DeclarativeValidation
      DisableAllocatorDualWrite DynamicResourceAllocation ExecProbeTimeout ExternalServiceAccountTokenSigner
      HPAConfigurableTolerance HostnameOverride ImageMaximumGCAge ImageVolume InPlacePodVerticalScaling
      InPlacePodVerticalScalingInitContainers JobManagedBy KubeletCgroupDriverFromCRI KubeletFineGrainedAuthz
      KubeletPSI KubeletPodResourcesDynamicResources KubeletPodResourcesGet KubeletTracing
      MatchLabelKeysInPodAffinity MultiCIDRServiceAllocator MutableCSINodeAllocatableCount NFTablesProxyMode
      NodeDeclaredFeatures NodeInclusionPolicyInPodTopologySpread NodeLogQuery NodeSwap PLEGOnDemandRelist
      PodObservedGenerationTracking PodReadyToStartContainersCondition PodSchedulingReadiness
      PreferSameTrafficDistribution ProcMountType RecoverVolumeExpansionFailure RecursiveReadOnlyMounts
      RelaxedEnvironmentVariableValidation RelaxedServiceNameValidation SELinuxChangePolicy
      SELinuxMountReadWriteOncePod SeparateTaintEvictionController ServiceAccountTokenJTI
      ServiceAccountTokenNodeBinding ServiceAccountTokenNodeBindingValidation ServiceAccountTokenPodNodeInfo
      SupplementalGroupsPolicy SystemdWatchdog TopologyManagerPolicyOptions UserNamespacesSupport
      VolumeAttributesClass WatchCacheInitializationPostStartHook WinDSR WinOverlay
    `,
  },
  {
    stage: 'DEPRECATED',
    isOnByDefault: false,
    isLocked: false,
    names: `
      AllowDNSOnlyNodeCSR AllowInsecureKubeletCertificateSigningRequests ChangeContainerStatusOnKubeletRestart
      KMSv1 KubeletRegistrationGetOnExistsOnly WindowsHostNetwork
    `,
  },
  {
    stage: 'DEPRECATED',
    isOnByDefault: false,
    isLocked: true,
    names: `
      AllowOverwriteTerminationGracePeriodSeconds DeclarativeValidationTakeover GitRepoVolumeDriver
      SeparateCacheWatchRPC
    `,
  },
  {
    stage: 'DEPRECATED',
    isOnByDefault: true,
    isLocked: false,
    names: `
      KubeProxyIPVS KubeletPodResourcesListUseActivePods ServiceCIDRStatusFieldWiping StorageNamespaceIndex
    `,
  },
  {
    stage: 'DEPRECATED',
    isOnByDefault: true,
    isLocked: true,
    names: `
      AggregatedDiscoveryRemoveBetaType DisableCPUQuotaWithExclusiveCPUs DisableNodeKubeProxyVersion
    `,
  },
];

/** Gates that must be on for another one to be on: `Gate needs, others`, a line each. */
export const releaseGateNeeds = `
  ClusterTrustBundleProjection: ClusterTrustBundle
  CompositePodGroup: GenericWorkload TopologyAwareWorkloadScheduling
  DRAAdminAccess: DynamicResourceAllocation
  DRAConsumableCapacity: DynamicResourceAllocation
  DRADerivedAttributes: DynamicResourceAllocation
  DRADeviceBindingConditions: DynamicResourceAllocation DRAResourceClaimDeviceStatus
  DRADeviceCompatibilityGroups: DynamicResourceAllocation DRAPartitionableDevices
  DRADeviceTaintRules: DRADeviceTaints
  DRADeviceTaints: DynamicResourceAllocation
  DRAExtendedResource: DynamicResourceAllocation
  DRAFractionalCapacityRange: DRAConsumableCapacity
  DRAListTypeAttributes: DynamicResourceAllocation
  DRANodeAllocatableResources: DynamicResourceAllocation
  DRAOptionalNodeOperations: DynamicResourceAllocation NodeDeclaredFeatures
  DRAPartitionableDevices: DynamicResourceAllocation
  DRAPartitionableDevicesType: DynamicResourceAllocation DRAPartitionableDevices DRAResourcePoolStatus
  DRAPrioritizedList: DynamicResourceAllocation
  DRAResourceClaimGranularStatusAuthorization: DynamicResourceAllocation DRAResourceClaimDeviceStatus
  DRAResourcePoolStatus: DynamicResourceAllocation
  DRASchedulerFilterTimeout: DynamicResourceAllocation
  DRAWorkloadResourceClaims: DynamicResourceAllocation GenericWorkload
  DeclarativeValidationBeta: DeclarativeValidation
  DeclarativeValidationTakeover: DeclarativeValidation
  DisableAllocatorDualWrite: MultiCIDRServiceAllocator
  EventedPLEG: PLEGOnDemandRelist
  ExtendWebSocketsToKubelet: NodeDeclaredFeatures
  GracefulNodeShutdownBasedOnPodPriority: GracefulNodeShutdown
  H2CContainerProbe: NodeDeclaredFeatures
  ImageVolumeWithDigest: ImageVolume
  InPlacePodLevelResourcesVerticalScaling: InPlacePodVerticalScaling PodLevelResources NodeDeclaredFeatures
  InPlacePodVerticalScalingExclusiveCPUs: InPlacePodVerticalScaling
  InPlacePodVerticalScalingExclusiveMemory: InPlacePodVerticalScaling
  InPlacePodVerticalScalingInitContainers: InPlacePodVerticalScaling NodeDeclaredFeatures
  InPlacePodVerticalScalingMemoryBackedVolumes: InPlacePodVerticalScaling NodeDeclaredFeatures
  InPlacePodVerticalScalingSchedulerPreemption: InPlacePodVerticalScaling
  KubeletAllocatedPodsEndpoint: InPlacePodVerticalScaling
  MatchLabelKeysInPodTopologySpreadSelectorMerge: MatchLabelKeysInPodTopologySpread
  NodeControllerLeaseCircuitBreaker: AtomicFIFO
  PodGroupPreemptionPolicy: GenericWorkload
  PodLevelResourceManagers: PodLevelResources
  PodLevelResourcesFixDefaulting: PodLevelResources
  PodLevelResourcesFixKubeletQOSClass: PodLevelResources
  ProcMountType: UserNamespacesSupport
  ResourceHealthStatus: DynamicResourceAllocation
  ResourceHealthStatusMessage: ResourceHealthStatus
  RestartAllContainersOnContainerExits: ContainerRestartRules NodeDeclaredFeatures
  ServiceAccountTokenNodeBinding: ServiceAccountTokenNodeBindingValidation
  StaleControllerConsistencyDaemonSet: AtomicFIFO
  StaleControllerConsistencyHPA: AtomicFIFO
  StaleControllerConsistencyJob: AtomicFIFO
  StaleControllerConsistencyReplicaSet: AtomicFIFO
  StaleControllerConsistencyStatefulSet: AtomicFIFO
  StorageVersionAPI: APIServerIdentity
  TopologyAwareWorkloadScheduling: GenericWorkload
  UnknownVersionInteroperabilityProxy: APIServerIdentity
  UserNamespacesHostNetworkSupport: UserNamespacesSupport NodeDeclaredFeatures
  WindowsGracefulNodeShutdown: GracefulNodeShutdown
  WorkloadWithJob: GenericWorkload
`;
