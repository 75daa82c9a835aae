/**
 * An environment for programs without any settings of the tests, except for the compile cache that all tests share
 * (scripts/test.js): without it, each start compiles everything again.
 *
 * @param more further variables
 */
export function programEnvironment(more: Readonly<Record<string, string | undefined>> = {}): NodeJS.ProcessEnv {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  return { PATH, ...(NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }), ...more };
}
