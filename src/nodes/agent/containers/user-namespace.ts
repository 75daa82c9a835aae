import type { Pod } from '../../../objects/apis/core/v1/pod.types.js';

interface Handler {
  readonly name: string;
  readonly features?: { readonly userNamespaces: boolean } | undefined;
}

/**
 * Refuses a pod that wants a user namespace of its own: without one, root in its containers would be root of the machine.
 *
 * @param name of the handler of the runtime that runs the pod; empty: the default one
 * @param handlers the handlers as the runtime describes them
 * @throws Error always for such a pod: neither runtimes without user namespaces nor this agent can give it one
 */
export function refuseUserNamespace({ spec }: Pod, name: string, handlers: readonly Handler[]): void {
  if (spec.hostUsers !== false) return;
  const isKnown = handlers.find((handler) => handler.name === name)?.features?.userNamespaces === true;
  const who = isKnown ? 'this node agent' : name === '' ? 'runtime' : `RuntimeClass handler "${name}"`;
  throw new Error(`can't set \`spec.hostUsers: false\`, ${who} does not support user namespaces`);
}
