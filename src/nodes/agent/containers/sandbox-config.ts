import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';
import { runtimeLabels } from '../cri/labels.js';
import { portProtocols, type SandboxConfig } from '../cri/sandbox-messages.js';
import type { NodeSettings } from '../node-settings.js';
import type { PodFolders } from '../pod-folders.js';
import { podUid } from '../pods/pod-form.js';
import { podCgroup } from './cgroups.js';
import { dnsConfigOf, hostNamesOf } from './host-files.js';
import { cgroupAmounts, cpuShares } from './resources.js';
import { namespacesOf, seccompOf } from './security.js';
import { sysctlName } from './sysctl-name.js';

/** The sandbox configuration of a pod, which the runtime gets again for each container. */
export async function sandboxConfigOf(
  pod: Pod,
  attempt: number,
  settings: NodeSettings,
  folders: PodFolders,
): Promise<SandboxConfig> {
  const { metadata, spec } = pod;
  const { name = '', namespace = '' } = metadata;
  const uid = podUid(pod);
  const { clusterDns, clusterDomain, nodeName, podsCgroup } = settings;
  const shared = spec.securityContext ?? {};
  const isPrivileged = [...(spec.containers ?? []), ...(spec.initContainers ?? [])].some(
    ({ securityContext }) => securityContext?.privileged === true,
  );
  const { cpuRequestMilli, cpuLimitMilli, memoryLimit } = cgroupAmounts(pod, settings);
  const { runAsUser, runAsGroup, supplementalGroups, fsGroup, seLinuxOptions } = shared;
  return {
    metadata: { name, uid, namespace, attempt },
    // A pod in the network of its node has the name of the node.
    ...(spec.hostNetwork ? {} : { hostname: hostNamesOf(pod, nodeName, clusterDomain).hostname }),
    logDirectory: folders.podLogs(namespace, name, uid),
    dnsConfig: dnsConfigOf(pod, clusterDns, clusterDomain, await settings.resolvConf()),
    portMappings: portMappingsOf(pod),
    labels: {
      ...(metadata.labels ?? {}),
      [runtimeLabels.podName]: name,
      [runtimeLabels.podNamespace]: namespace,
      [runtimeLabels.podUid]: uid,
    },
    annotations: metadata.annotations ?? {},
    linux: {
      ...(podsCgroup === undefined ? {} : { cgroupParent: podCgroup(pod, podsCgroup) }),
      sysctls: Object.fromEntries((shared.sysctls ?? []).map((each) => [sysctlName(each.name), each.value])),
      resources: {
        cpuShares: cpuShares(cpuRequestMilli),
        cpuPeriod: settings.cfsQuotaPeriodMs * 1000,
        ...(cpuLimitMilli === undefined ? {} : { cpuQuota: (cpuLimitMilli * settings.cfsQuotaPeriodMs * 1000) / 1000 }),
        ...(memoryLimit === undefined ? {} : { memoryLimitInBytes: memoryLimit }),
      },
      securityContext: {
        namespaceOptions: namespacesOf(pod),
        ...(seLinuxOptions ? { seLinuxOptions } : {}),
        ...(runAsUser === undefined || runAsUser === null ? {} : { runAsUser: { value: Number(runAsUser) } }),
        ...(runAsGroup === undefined || runAsGroup === null || runAsUser === undefined
          ? {}
          : { runAsGroup: { value: Number(runAsGroup) } }),
        supplementalGroups: [...(supplementalGroups ?? []), ...(fsGroup === undefined ? [] : [fsGroup])].map(Number),
        supplementalGroupsPolicy: shared.supplementalGroupsPolicy === 'Strict' ? 1 : 0,
        privileged: isPrivileged,
        // The program that only keeps the sandbox open works with the runtime's default filter.
        seccomp: seccompOf(shared.seccompProfile ?? { type: 'RuntimeDefault' }, folders.seccomp),
      },
    },
  };
}

function portMappingsOf({ spec }: Pod) {
  if (spec.hostNetwork) return [];
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  return [...sidecars, ...(spec.containers ?? [])].flatMap(({ ports }) =>
    (ports ?? [])
      .filter(({ hostPort }) => (hostPort ?? 0) > 0)
      .map(({ protocol, containerPort, hostPort, hostIP }) => ({
        protocol: portProtocols[protocol ?? 'TCP'] ?? 0,
        containerPort,
        hostPort: hostPort ?? 0,
        hostIp: hostIP ?? '',
      })),
  );
}
