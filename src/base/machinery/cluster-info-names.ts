/** The public ConfigMap that joining nodes read first (specification 2.9). */
export const clusterInfoName = 'cluster-info';

/** The entry of that ConfigMap with the cluster's address and certificate authority. */
export const clusterInfoKubeconfigKey = 'kubeconfig';

/** Prefix of that ConfigMap's entries with signatures over the kubeconfig; the token's id follows. */
export const clusterInfoSignaturePrefix = 'jws-kubeconfig-';
