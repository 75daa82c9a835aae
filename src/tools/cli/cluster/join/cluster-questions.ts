import { StartupError } from '../../../../base/machinery/startup-error.js';
import type { ApiUser } from '../../../../nodes/connection/api-connection.js';
import { ApiError } from '../../../../nodes/connection/api-error.js';

/** Requests of a node to a cluster before it joins. A missing right does not stop the join: not every cluster grants it. */
async function answerOf<T extends object>(api: ApiUser, path: string, signal: AbortSignal): Promise<T | undefined> {
  try {
    return await api.send<T>('GET', path, { signal });
  } catch (error) {
    if (error instanceof ApiError && (error.status === 404 || error.status === 403)) return undefined;
    throw error;
  }
}

/** @throws StartupError when a node of the name works in the cluster: two machines would be taken for one */
export async function refuseTakenName(api: ApiUser, name: string, signal: AbortSignal): Promise<void> {
  const node = await answerOf<{
    readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
  }>(api, `/api/v1/nodes/${name}`, signal);
  if (node?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True')) {
    throw new StartupError(
      `the cluster has a node ${name} that is ready: give another --node-name, or delete that node`,
    );
  }
}

/** The KubeletConfiguration that the cluster has for its nodes; undefined for none. */
export async function kubeletConfig(api: ApiUser, namespace: string, signal: AbortSignal): Promise<string | undefined> {
  const path = `/api/v1/namespaces/${namespace}/configmaps/kubelet-config`;
  return (await answerOf<{ readonly data?: { readonly kubelet?: string } }>(api, path, signal))?.data?.kubelet;
}
