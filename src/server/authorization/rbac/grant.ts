import type { AuthorizationDecision } from '../../../base/machinery/authorizer.js';
import type { Subject } from '../../../objects/apis/rbac/v1/role-binding.types.js';
import type { BindingNames } from './compiled-binding.js';
import type { RoleSlot } from './role-slot.js';

/** The rights of one subject from one binding. */
export class Grant {
  private allowed: AuthorizationDecision | undefined;

  constructor(
    readonly key: string,
    readonly slot: RoleSlot,
    private readonly binding: BindingNames,
    private readonly subject: Subject,
  ) {}

  /** The decision of this grant. Its reason has the wording that clients know. */
  get decision(): AuthorizationDecision {
    if (this.allowed === undefined) {
      const reason = `RBAC: allowed by ${describe(this.binding, this.subject)}`;
      this.allowed = Object.freeze({ decision: 'allow', reason } as const);
    }
    return this.allowed;
  }
}

function describe({ metadata, roleRef }: BindingNames, subject: Subject): string {
  const { name, namespace } = metadata;
  const quote = JSON.stringify;
  const binding =
    namespace === '' ? `ClusterRoleBinding ${quote(name)}` : `RoleBinding ${quote(`${name}/${namespace}`)}`;
  const home = subject.namespace === undefined || subject.namespace === '' ? namespace : subject.namespace;
  const who = subject.kind === 'ServiceAccount' ? `${subject.name}/${home}` : subject.name;
  return `${binding} of ${roleRef.kind} ${quote(roleRef.name)} to ${subject.kind} ${quote(who)}`;
}
