import { type FSWatcher, watch } from 'node:fs';
import { basename, dirname } from 'node:path';

/**
 * The kernel's notifications of changes of a file, or of the entries of a folder; undefined where there are none, such as
 * for a missing folder.
 */
export function watchPath(path: string, changed: () => void): FSWatcher | undefined {
  try {
    return watch(path, changed).on('error', () => undefined);
  } catch {
    try {
      return watch(dirname(path), (_type, name) => {
        if (name === basename(path)) changed();
      }).on('error', () => undefined);
    } catch {
      return undefined;
    }
  }
}
