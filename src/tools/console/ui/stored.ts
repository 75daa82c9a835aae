import { type Signal, signal } from '@preact/signals';
import { basePath } from './base-path.js';

/**
 * A choice of the user that the browser keeps. What stands there is taken only if it has the right shape: other
 * versions of the page, and users, may have written it.
 */
export function stored<T>(name: string, fallback: T, isValid: (value: unknown) => value is T): Signal<T> {
  const key = `plinth${basePath}-${name}`;
  const kept = signal(readStored(key, fallback, isValid));
  let isFirst = true;
  kept.subscribe((value) => {
    if (!isFirst) writeStored(key, value);
    isFirst = false;
  });
  return kept;
}

/** The value that the browser keeps under the key, if it is valid; the fallback otherwise. */
export function readStored<T>(key: string, fallback: T, isValid: (value: unknown) => value is T): T {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(key) ?? 'null');
    return isValid(value) ? value : fallback;
  } catch {
    return fallback;
  }
}

/** Keeps a value under the key, where storage is on and has space. */
export function writeStored(key: string, value: unknown): void {
  try {
    localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // Storage is switched off or full: the choice holds until the page is loaded again.
  }
}

export function isTextList(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}
