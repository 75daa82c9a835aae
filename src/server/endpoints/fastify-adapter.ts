import { FastifyAdapter } from '@nestjs/platform-fastify';
import { fastify } from 'fastify';

/**
 * Nest's adapter of a Fastify instance with the given options. Nest registers a hook for after each response, which does
 * nothing unless the application gives it something to do. It is left out: with such a hook, Fastify listens for the end
 * of each response.
 */
export function fastifyAdapter(options: object): FastifyAdapter {
  const instance = fastify(options);
  const { addHook } = instance;
  const withoutAfter = (name: string, hook: unknown) =>
    name === 'onResponse' ? instance : addHook.call(instance, name as 'onRequest', hook as never);
  Object.assign(instance, { addHook: withoutAfter });
  const adapter = new FastifyAdapter(instance as never);
  Object.assign(instance, { addHook });
  return adapter;
}
