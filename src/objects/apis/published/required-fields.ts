/**
 * The required fields of types whose declarations differ, because release 1.37 publishes another list than the wire
 * form suggests: objects without `spec` are accepted, and conditions are written with all of their fields.
 */
export const requiredFields: Readonly<Record<string, readonly string[]>> = {
  'admissionregistration.v1.ValidatingAdmissionPolicyBinding': ['spec'],
  'admissionregistration.v1.ValidatingAdmissionPolicyBindingSpec': ['policyName', 'validationActions'],
  'apps.v1.ControllerRevision': ['data'],
  'apps.v1.DaemonSet': ['spec'],
  'apps.v1.DaemonSetCondition': [],
  'apps.v1.Deployment': ['spec'],
  'apps.v1.DeploymentCondition': [],
  'apps.v1.ReplicaSet': ['spec'],
  'apps.v1.ReplicaSetCondition': [],
  'apps.v1.StatefulSet': ['spec'],
  'apps.v1.StatefulSetCondition': [],
  'authentication.v1.TokenReviewSpec': ['token'],
  'autoscaling.v1.HorizontalPodAutoscaler': ['spec'],
  'autoscaling.v2.HorizontalPodAutoscaler': ['spec'],
  'batch.v1.CronJob': ['spec'],
  'core.v1.ContainerRestartRule': ['action'],
  'core.v1.ContainerRestartRuleOnExitCodes': ['operator'],
  'core.v1.ImageVolumeStatus': ['imageRef'],
  'core.v1.PodCertificateProjection': ['signerName', 'keyType'],
  'flowcontrol.v1.FlowSchema': ['spec'],
  'flowcontrol.v1.FlowSchemaCondition': ['type'],
  'flowcontrol.v1.LimitedPriorityLevelConfiguration': ['limitResponse'],
  'flowcontrol.v1.PriorityLevelConfiguration': ['spec'],
  'flowcontrol.v1.PriorityLevelConfigurationCondition': ['type'],
  'networking.v1.IPAddress': ['spec'],
  'networking.v1.IPAddressSpec': ['parentRef'],
  'networking.v1.ParentReference': ['resource', 'name'],
};
