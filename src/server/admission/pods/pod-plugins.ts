import type { AdmissionDependencies } from '../admission-dependencies.js';
import type { AdmissionPlugin } from '../admission-plugin.js';
import { AlwaysPullImages } from '../plugins/always-pull-images/always-pull-images.js';
import { DefaultTolerationSeconds } from '../plugins/default-toleration-seconds/default-toleration-seconds.js';
import { ExecDenial } from '../plugins/exec-denial/exec-denial.js';
import { ExtendedResourceToleration } from '../plugins/extended-resource-toleration/extended-resource-toleration.js';
import { LimitPodHardAntiAffinityTopology } from '../plugins/limit-pod-hard-anti-affinity-topology/limit-pod-hard-anti-affinity-topology.js';
import { NodeDeclaredFeatureValidator } from '../plugins/node-declared-feature-validator/node-declared-feature-validator.js';
import { buildPodNodeSelector } from '../plugins/pod-node-selector/pod-node-selector.js';
import { PodResizeValidator } from '../plugins/pod-resize-validator/pod-resize-validator.js';
import { buildPodSecurity } from '../plugins/pod-security/build-pod-security.js';
import { buildPodTolerationRestriction } from '../plugins/pod-toleration-restriction/pod-toleration-restriction.js';
import { PodTopologyLabels } from '../plugins/pod-topology-labels/pod-topology-labels.js';
import { Priority } from '../plugins/priority/priority.js';
import { RuntimeClassAdmission } from '../plugins/runtime-class/runtime-class-admission.js';
import { SecurityContextDeny } from '../plugins/security-context-deny/security-context-deny.js';
import { ServiceAccountAdmission } from '../plugins/service-account/service-account-admission.js';
import { TaintNodesByCondition } from '../plugins/taint-nodes-by-condition/taint-nodes-by-condition.js';

/** Makes the plugins that concern pods and the nodes they run on. */
export const podPlugins = {
  AlwaysPullImages: () => new AlwaysPullImages(),
  DefaultTolerationSeconds: ({ names, options }) => new DefaultTolerationSeconds(names, options),
  DenyEscalatingExec: ({ objects }) => new ExecDenial('DenyEscalatingExec', objects, true),
  DenyExecOnPrivileged: ({ objects }) => new ExecDenial('DenyExecOnPrivileged', objects, false),
  ExtendedResourceToleration: ({ names }) => new ExtendedResourceToleration(names),
  LimitPodHardAntiAffinityTopology: ({ names }) => new LimitPodHardAntiAffinityTopology(names),
  NodeDeclaredFeatureValidator: ({ objects }) => new NodeDeclaredFeatureValidator(objects),
  PodNodeSelector: (parts) => buildPodNodeSelector(parts),
  PodResizeValidator: ({ names, objects }) => new PodResizeValidator(objects, names),
  PodSecurity: (parts) => buildPodSecurity(parts),
  PodTolerationRestriction: (parts) => buildPodTolerationRestriction(parts),
  PodTopologyLabels: (parts) => new PodTopologyLabels(parts),
  Priority: (parts) => new Priority(parts),
  RuntimeClass: (parts) => new RuntimeClassAdmission(parts),
  SecurityContextDeny: () => new SecurityContextDeny(),
  ServiceAccount: (parts) => new ServiceAccountAdmission(parts),
  TaintNodesByCondition: ({ names }) => new TaintNodesByCondition(names),
} as const satisfies Readonly<Record<string, (dependencies: AdmissionDependencies) => AdmissionPlugin>>;
