/** The public ConfigMap that joining nodes read first (specification 2.9). */
export const clusterInfoName = 'cluster-info';

/** The entry of that ConfigMap with the cluster's address and authority. */
export const clusterInfoKubeconfigKey = 'kubeconfig';

/** Its entries with signatures over the kubeconfig have this prefix, followed by the token's id. */
export const clusterInfoSignaturePrefix = 'jws-kubeconfig-';
