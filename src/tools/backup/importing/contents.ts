import { StartupError } from '../../../base/machinery/startup-error.js';
import type { BackupReader, FoundSection } from '../format/backup-reader.js';
import { creationOrder, plainKind } from '../recreate/creation-order.js';

/** The findings of a first reading of a backup. After it, the file is known to be whole. */
export interface Contents {
  /** The sections in the order in which their objects can be created. */
  readonly sections: readonly FoundSection[];
  /** Uids that owner references name. */
  readonly ownerUids: ReadonlySet<string>;
}

/** The most owners, which is far more than any cluster has: a file must not take all memory. */
const mostOwners = 2_000_000;

/**
 * Reads and checks a whole backup.
 *
 * @throws BackupFileError for a file that can't be used
 */
export async function readContents(reader: BackupReader, signal: AbortSignal): Promise<Contents> {
  const ownerUids = new Set<string>();
  const ownerKinds = new Map<number, Set<string>>();
  for await (const { section, object } of reader.all()) {
    signal.throwIfAborted();
    for (const { apiVersion, kind, uid } of object.metadata.ownerReferences ?? []) {
      ownerUids.add(uid);
      if (ownerUids.size > mostOwners) throw new StartupError('the backup has more owners than can be kept in mind');
      const kinds = ownerKinds.get(section.index) ?? new Set();
      ownerKinds.set(section.index, kinds);
      if (kinds.size < 1000) kinds.add(withoutVersion(apiVersion, kind));
    }
  }
  return { sections: inOrder(reader.sections, ownerKinds), ownerUids };
}

const namespaces = '/Namespace';
const definitions = 'apiextensions/CustomResourceDefinition';

/** Sorts kinds before those that they own, and after what all their objects need. */
function inOrder(
  sections: readonly FoundSection[],
  ownerKinds: ReadonlyMap<number, ReadonlySet<string>>,
): readonly FoundSection[] {
  const stand = sections.map((section) => {
    const { apiVersion, kind, namespaced, index } = section;
    const own = withoutVersion(apiVersion, kind);
    const plain = plainKind(apiVersion, kind);
    const owners = new Set(ownerKinds.get(index));
    owners.delete(own);
    const first = [
      ...(namespaced ? [namespaces] : []),
      ...(apiVersion.split('/', 1)[0]?.includes('.') === true && plain !== definitions ? [definitions] : []),
    ];
    const needed = [...first, ...owners].map((uid) => ({ apiVersion: '', kind: '', name: '', uid }));
    const uid = plain === namespaces || plain === definitions ? plain : own;
    return { apiVersion, kind, metadata: { uid, ownerReferences: needed }, section };
  });
  return creationOrder(stand).map(({ section }) => section);
}

function withoutVersion(apiVersion: string, kind: string): string {
  const slash = apiVersion.indexOf('/');
  return `${slash < 0 ? '' : apiVersion.slice(0, slash)}/${kind}`;
}
