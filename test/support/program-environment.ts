/**
 * The environment of a program that no setting of the tests should reach. Only compiled code is kept where that of all
 * tests is (scripts/test.js): without it, each start compiles everything again.
 *
 * @param more further variables
 */
export function programEnvironment(more: Readonly<Record<string, string | undefined>> = {}): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return { PATH, ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }), ...more };
}
