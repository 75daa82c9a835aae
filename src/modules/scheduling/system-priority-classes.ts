import { groupName, type VendorNames } from '../../base/machinery/vendor.js';
import { ensureObject } from '../../objects/registry/store/ensure-object.js';
import type { ResourceStores } from '../../objects/registry/store/resource-stores.js';
import { systemPriorities } from './priority-class/priority-class.validation.js';

const uses: Readonly<Record<string, string>> = {
  'system-cluster-critical': 'For pods that the cluster needs to work, and that may move to another node.',
  'system-node-critical': 'For pods that the node they run on needs to work.',
};

/** Creates the priority classes, if missing, for pods that a cluster can't do without. */
export async function ensureSystemPriorityClasses(names: VendorNames, stores: ResourceStores): Promise<void> {
  const group = groupName('scheduling', names);
  for (const [name, value] of Object.entries(systemPriorities)) {
    await ensureObject(
      stores,
      { group, resource: 'priorityclasses' },
      {
        metadata: { name },
        value,
        ...(uses[name] === undefined ? {} : { description: uses[name] }),
      },
      names.fieldManagers.server,
    );
  }
}
