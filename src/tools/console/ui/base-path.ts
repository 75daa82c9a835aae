/**
 * The path of the console in the browser, from the place of one of its scripts: a proxy may serve it below a path of its own.
 *
 * @returns without a slash at its end; empty when the console has the whole origin
 */
export function basePathOf(script: string): string {
  // Tests load the modules from files.
  return /^https?:/.test(script) ? new URL('.', script).pathname.slice(0, -1) : '';
}

/** The path of this console. */
export const basePath = basePathOf(import.meta.url);
