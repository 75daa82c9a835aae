/** Labels of sandboxes and containers by which node agents recognize the pod that they belong to. */
export const runtimeLabels = {
  podName: 'io.kubernetes.pod.name',
  podNamespace: 'io.kubernetes.pod.namespace',
  podUid: 'io.kubernetes.pod.uid',
  containerName: 'io.kubernetes.container.name',
} as const;

/** Annotations of containers in which the agent stores what it needs after a restart. */
export const runtimeAnnotations = {
  hash: 'io.kubernetes.container.hash',
  restartCount: 'io.kubernetes.container.restartCount',
  terminationMessagePath: 'io.kubernetes.container.terminationMessagePath',
  terminationMessagePolicy: 'io.kubernetes.container.terminationMessagePolicy',
  podGracePeriod: 'io.kubernetes.pod.terminationGracePeriod',
  podDeletionGracePeriod: 'io.kubernetes.pod.deletionGracePeriod',
  preStopHandler: 'io.kubernetes.container.preStopHandler',
  ports: 'io.kubernetes.container.ports',
} as const;
