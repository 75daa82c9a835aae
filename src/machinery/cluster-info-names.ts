/** The public ConfigMap that joining nodes begin with (specification 2.9). */
export const clusterInfoName = 'cluster-info';

/** Its entry with address and authority of the cluster. */
export const clusterInfoKubeconfigKey = 'kubeconfig';

/** Its entries with signatures over that one are named with this and the id of the token. */
export const clusterInfoSignaturePrefix = 'jws-kubeconfig-';
