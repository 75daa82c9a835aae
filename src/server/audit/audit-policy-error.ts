/** All problems of a policy, each with the path of its field. */
export class AuditPolicyError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(problems.join('; '));
    this.name = 'AuditPolicyError';
  }
}
