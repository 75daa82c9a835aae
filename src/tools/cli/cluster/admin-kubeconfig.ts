import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { defaultConfigFolder } from './config-folder.js';

/** Name of the kubeconfig that `plinth init` makes for the administrator. */
export const adminKubeconfigName = 'admin.kubeconfig';

/** What KUBECONFIG names, else the kubeconfig that `plinth init` has made on this machine; undefined for none. */
export function adminKubeconfig({ KUBECONFIG }: Readonly<Record<string, string | undefined>>): string | undefined {
  if (KUBECONFIG !== undefined && KUBECONFIG !== '') return KUBECONFIG;
  const own = join(defaultConfigFolder(), adminKubeconfigName);
  return existsSync(own) ? own : undefined;
}
