/** After an object whose rules took long, so many objects of the same tenant are expected to take long, too. */
const expected = 64;
/** Above this many tenants, all are forgotten. */
const mostTenants = 1_000;

/**
 * Remembers whose objects have rules that take long. Such a request moves to another thread only once its rules have
 * held the event loop for a while; the next ones of its tenant can move at once.
 */
export class LongRules {
  private readonly left = new Map<string, number>();

  /** The rules of an object of the tenant took long. */
  seen(tenant: string): void {
    if (this.left.size >= mostTenants) this.left.clear();
    this.left.set(tenant, expected);
  }

  /** Whether the rules of the next object of the tenant probably take long. Counts the objects. */
  isExpected(tenant: string): boolean {
    const left = this.left.get(tenant);
    if (left === undefined) return false;
    if (left > 1) this.left.set(tenant, left - 1);
    else this.left.delete(tenant);
    return true;
  }
}
