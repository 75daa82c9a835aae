import type { Aggregation } from '../../aggregation/aggregation.js';
import type { RemoteVersion } from '../discovery/discovery-documents.js';

const nothing: RemoteVersion['resources'] = Object.freeze([]);

/**
 * The documents of extension servers about their group versions, by `<group>/<version>`; for unavailable servers, their
 * last known documents.
 */
export async function remoteVersions(aggregation: Aggregation): Promise<Map<string, RemoteVersion>> {
  const found = await Promise.all(
    aggregation.services.remotes().map(async (remote) => {
      const { resources } = aggregation.of(remote);
      const { value, isCurrent } = remote.isAvailable ? await resources.get() : resources.last;
      const version = { resources: value ?? nothing, isCurrent: isCurrent && remote.isAvailable };
      return [`${remote.group}/${remote.version}`, version] as const;
    }),
  );
  return new Map(found);
}
