import { groupName, type VendorNames } from '../../base/machinery/vendor.js';

/** The position of a group version among all others: higher comes first. */
export interface ApiPriority {
  readonly group: number;
  readonly version: number;
}

/** Built-in groups by short name, with the priorities of the group and of its versions. */
const builtIn: Readonly<Record<string, readonly [group: number, versions: Readonly<Record<string, number>>]>> = {
  '': [18_000, { v1: 1 }],
  apps: [17_800, { v1: 15 }],
  events: [17_750, { v1: 15, v1beta1: 5 }],
  authentication: [17_700, { v1: 15, v1beta1: 9, v1alpha1: 1 }],
  authorization: [17_600, { v1: 15, v1beta1: 9 }],
  autoscaling: [17_500, { v2: 30, v1: 15, v2beta1: 9, v2beta2: 1 }],
  batch: [17_400, { v1: 15, v1beta1: 9, v2alpha1: 9 }],
  certificates: [17_300, { v1: 15, v1beta1: 9, v1alpha1: 1 }],
  networking: [17_200, { v1: 15, v1beta1: 9, v1alpha1: 1 }],
  policy: [17_100, { v1: 15, v1beta1: 9 }],
  'rbac.authorization': [17_000, { v1: 15, v1beta1: 12, v1alpha1: 9 }],
  storage: [16_800, { v1: 15, v1beta1: 9, v1alpha1: 1 }],
  admissionregistration: [16_700, { v1: 15, v1beta1: 12, v1alpha1: 9 }],
  apiextensions: [16_700, { v1: 15 }],
  scheduling: [16_600, { v1: 15, v1beta1: 12, v1alpha3: 9, v1alpha2: 9, v1alpha1: 9 }],
  coordination: [16_500, { v1: 15, v1beta1: 9, v1alpha2: 9, v1alpha1: 9 }],
  node: [16_300, { v1: 15, v1beta1: 9, v1alpha1: 1 }],
  discovery: [16_200, { v1: 15, v1beta1: 12, v1alpha1: 9 }],
  resource: [16_200, { v1: 21, v1beta2: 15, v1beta1: 9, v1alpha3: 1 }],
  'flowcontrol.apiserver': [16_100, { v1: 21, v1beta3: 18, v1beta2: 15, v1beta1: 12, v1alpha1: 9 }],
  'internal.apiserver': [16_000, { v1alpha1: 10 }],
  storagemigration: [15_800, { v1: 15, v1beta1: 10, v1alpha1: 9 }],
  lifecycle: [15_500, { v1alpha1: 9 }],
};

/** Custom resources come after all built-in groups; their versions are ordered by name. */
export const customPriority: ApiPriority = Object.freeze({ group: 1000, version: 100 });

/** The group of APIServices itself: it comes first, and is the only one without an APIService. */
const ownGroup = 'apiregistration';
const first: ApiPriority = Object.freeze({ group: 20_001, version: 1 });

/** The priorities of the group versions of this server. */
export class LocalPriorities {
  private readonly groups: ReadonlyMap<string, readonly [group: number, versions: Readonly<Record<string, number>>]>;
  /** Served name of the group of APIServices. */
  readonly ownGroup: string;

  constructor(names: VendorNames) {
    this.groups = new Map(Object.entries(builtIn).map(([short, value]) => [groupName(short, names), value]));
    this.ownGroup = groupName(ownGroup, names);
  }

  /** The priority of a built-in group version; undefined for any other one. */
  builtIn(group: string, version: string): ApiPriority | undefined {
    if (group === this.ownGroup) return first;
    const known = this.groups.get(group);
    return known && { group: known[0], version: known[1][version] ?? 1 };
  }

  /** Whether the table itself contains the group version. */
  names(group: string, version: string): boolean {
    return group === this.ownGroup || this.groups.get(group)?.[1][version] !== undefined;
  }

  /** The priority of any group version that this server serves. */
  of(group: string, version: string): ApiPriority {
    return this.builtIn(group, version) ?? customPriority;
  }
}
