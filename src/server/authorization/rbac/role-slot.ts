import type { CompiledRole } from './compiled-role.js';

/** A role that bindings refer to. It is kept as long as the role exists or a binding names it. */
export class RoleSlot {
  role: CompiledRole | undefined;
  bindings = 0;

  constructor(
    readonly kind: string,
    readonly name: string,
  ) {}
}
