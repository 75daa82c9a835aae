import { existsSync } from 'node:fs';
import { delimiter } from 'node:path';
import { StartupError } from '../../base/machinery/startup-error.js';

/**
 * The kubeconfig that the variable KUBECONFIG names; undefined for none. In a list, missing files do not count.
 *
 * @throws StartupError when several files exist: they are not merged
 */
export function usualKubeconfig(text: string | undefined): string | undefined {
  const named = (text ?? '').split(delimiter).filter((file) => file !== '');
  if (named.length < 2) return named[0];
  const present = named.filter((file) => existsSync(file));
  if (present.length < 2) return present[0] ?? named[0];
  throw new StartupError(`KUBECONFIG names ${present.length} files: name one of them by --kubeconfig`);
}
