import type { Api } from './api.js';
import { ApiFault } from './api-fault.js';
import { type Followed, type FollowState, follow, type Wait, watchSeconds } from './follow.js';
import { type ApiObject, readObject } from './yaml-text.js';

/** One object that is kept up to date by a watch. */
export class LiveObject {
  object: ApiObject | undefined;
  state: FollowState = 'loading';
  message = '';
  /** Whether the object existed and no longer does. */
  isDeleted = false;
  /** The version at which it was deleted; empty while it is there. */
  deletedVersion = '';

  /** @param collection path of the collection that it is in */
  constructor(
    private readonly api: Api,
    private readonly collection: string,
    private readonly name: string,
    private readonly changed: () => void,
  ) {}

  run(signal: AbortSignal, wait: Wait): Promise<void> {
    const followed: Followed = {
      accept: 'application/json',
      list: async (ending) => {
        const path = `${this.collection}/${encodeURIComponent(this.name)}`;
        try {
          this.take(readObject(await this.api.text(path, { signal: ending })));
        } catch (error) {
          // At an earlier moment it may not have existed yet; what a watch saw deleted stays in sight.
          if (error instanceof ApiFault && error.code === 404 && !this.isDeleted) this.object = undefined;
          throw error;
        }
        // The version of an object that rarely changes may be too old to watch from; the version of a list never is.
        const selected = `${this.collection}?${new URLSearchParams({ fieldSelector: `metadata.name=${this.name}` })}`;
        const list = readObject(await this.api.text(selected, { signal: ending }));
        const [item] = (list.items ?? []) as ApiObject[];
        const { apiVersion, kind } = this.object ?? {};
        if (item !== undefined) this.take({ apiVersion, kind, ...item } as ApiObject);
        return list.metadata.resourceVersion ?? '';
      },
      watchPath: (version) =>
        `${this.collection}?${new URLSearchParams({
          watch: 'true',
          allowWatchBookmarks: 'true',
          timeoutSeconds: watchSeconds,
          fieldSelector: `metadata.name=${this.name}`,
          resourceVersion: version,
        })}`,
      event: (type, object) => {
        const { metadata } = object as ApiObject;
        if (type === 'ADDED' || type === 'MODIFIED') this.take(object as ApiObject);
        else if (type === 'DELETED') {
          this.isDeleted = true;
          this.deletedVersion = metadata.resourceVersion ?? '';
          this.changed();
        }
        return metadata.resourceVersion;
      },
      state: (state, message) => {
        this.state = state;
        this.message = message;
        this.changed();
      },
      forget: () => {
        this.object = undefined;
      },
    };
    return follow(this.api, followed, signal, wait);
  }

  private take(object: ApiObject): void {
    this.object = object;
    this.isDeleted = false;
    this.deletedVersion = '';
    this.changed();
  }
}
