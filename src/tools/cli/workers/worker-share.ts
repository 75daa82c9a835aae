import type { ApiOptions } from '../../../base/config/api.options.js';

type InFlightLimits = Pick<
  ApiOptions,
  'maxRequestsInflight' | 'maxMutatingRequestsInflight' | 'maxUnauthenticatedRequestsInflight'
>;

/**
 * The options of one of several workers: limits on requests under way are those of the server, so each worker gets a
 * part of them, and all together get the whole. A limit of less than one for each worker becomes one for each; 0 stays
 * no limit.
 *
 * @param index of the worker, from 1
 */
export function shareOfWorker<Options extends InFlightLimits>(
  options: Options,
  index: number,
  workers: number,
): Options {
  const part = (limit: number) => {
    if (limit === 0) return 0;
    return Math.max(1, Math.floor(limit / workers) + (index <= limit % workers ? 1 : 0));
  };
  return {
    ...options,
    maxRequestsInflight: part(options.maxRequestsInflight),
    maxMutatingRequestsInflight: part(options.maxMutatingRequestsInflight),
    maxUnauthenticatedRequestsInflight: part(options.maxUnauthenticatedRequestsInflight),
  };
}
