import { effect, type Signal, signal } from '@preact/signals';
import { basePath } from './base-path.js';
import { readStored, writeStored } from './stored.js';

/**
 * Like {@link stored}, but each user of the browser has a value of their own: what one gave a name, the next one does not
 * see. While nobody is logged in, it has the fallback.
 *
 * @param currentUser the name of who is logged in, from signals
 */
export function storedOfUser<T>(
  name: string,
  fallback: T,
  isValid: (value: unknown) => value is T,
  currentUser: () => string | undefined,
): Signal<T> {
  const kept = signal(fallback);
  let key: string | undefined;
  effect(() => {
    const user = currentUser();
    key = undefined;
    kept.value = user === undefined ? fallback : readStored(keyOf(name, user), fallback, isValid);
    if (user !== undefined) key = keyOf(name, user);
  });
  kept.subscribe((value) => {
    if (key !== undefined) writeStored(key, value);
  });
  return kept;
}

function keyOf(name: string, user: string): string {
  return `plinth${basePath}-${name}:${user}`;
}
