import type { VendorNames } from '../../../../base/machinery/vendor.js';

type Labels = Readonly<Record<string, string>> | null | undefined;

/** Labels that agents report about their own machine, under the vendor's prefix. */
const ownLabels = [
  'hostname',
  'arch',
  'os',
  'beta.|arch',
  'beta.|os',
  'beta.|instance-type',
  'node.|instance-type',
  'failure-domain.beta.|zone',
  'failure-domain.beta.|region',
  'topology.|zone',
  'topology.|region',
] as const;
/** Subdomains of the vendor's prefix whose labels agents may use freely. */
const ownDomains = ['nodeagent', 'kubelet', 'node'];
/** Labels in this subdomain are reserved for the administrator, who uses them to isolate nodes. */
const restrictedDomain = 'node-restriction';

/**
 * Decides which labels of its own Node a node agent may not set, change or remove (specification 5.5): the labels that
 * isolate nodes, and all others with the vendor's prefix except those about its machine. Labels without that prefix are
 * not restricted.
 */
export class NodeLabels {
  private readonly domains: readonly string[];
  private readonly own: ReadonlySet<string>;

  constructor({ labelPrefix, suffix }: VendorNames) {
    this.domains = [...new Set([labelPrefix, suffix])];
    this.own = new Set(
      ownLabels.map((text) => {
        const [before, name] = text.includes('|') ? (text.split('|') as [string, string]) : ['', text];
        return `${before}${labelPrefix}/${name}`;
      }),
    );
  }

  /** The changed labels that an agent may not touch, sorted. */
  forbiddenChanges(labels: Labels, before: Labels): string[] {
    const [now, then] = [labels ?? {}, before ?? {}];
    const keys = new Set([...Object.keys(now), ...Object.keys(then)]);
    return [...keys].filter((key) => now[key] !== then[key] && this.isForbidden(key)).sort();
  }

  private isForbidden(key: string): boolean {
    const slash = key.indexOf('/');
    if (slash < 0) return false;
    const domain = key.slice(0, slash);
    const within = (parent: string) => domain === parent || domain.endsWith(`.${parent}`);
    if (this.domains.some((vendor) => within(`${restrictedDomain}.${vendor}`))) return true;
    if (!this.domains.some(within) || this.own.has(key)) return false;
    return !this.domains.some((vendor) => ownDomains.some((own) => within(`${own}.${vendor}`)));
  }
}
