import type { ResourceRegistry, ServedResource } from '../../../objects/registry/resource-registry.js';
import type { ChangeSubscription } from '../../../storage/storage.interface.js';

/** Maximum wait for the last changes of a removed resource. */
const lastChangesMs = 5_000;

/**
 * Ends the watch of a custom resource when its definition changes. A watch of a changed resource ends at once: the
 * client resumes from the version that it has seen, and gets objects in the form of the new schema. A watch of a
 * removed resource first receives all changes from before the removal, since a new watch would get a 404.
 */
export class WatchEnding {
  /** The watch ends once it has reached this version. */
  private at: bigint | undefined;
  private timer: NodeJS.Timeout | undefined;
  private readonly leave: () => void;

  constructor(
    private readonly registry: ResourceRegistry,
    private readonly resource: ServedResource,
    private readonly subscription: Pick<ChangeSubscription, 'close' | 'hasten'>,
  ) {
    this.leave = registry.onChange(({ at }) => this.check(at));
    this.check(undefined);
  }

  /** Whether a watch that has sent everything up to `position` ends there. */
  isAt(position: bigint): boolean {
    return this.at !== undefined && position >= this.at;
  }

  /** Frees everything; called when the watch has ended. */
  stop(): void {
    this.leave();
    clearTimeout(this.timer);
  }

  private check(at: bigint | undefined): void {
    const { registry, resource } = this;
    if (this.timer !== undefined || registry.isCurrent(resource)) return;
    const { definition, served } = resource;
    const isReplaced = registry.find(definition.group, served.version, definition.resource) !== undefined;
    if (isReplaced || at === undefined) {
      this.subscription.close();
      return;
    }
    this.at = at;
    this.subscription.hasten?.(at);
    this.timer = setTimeout(() => this.subscription.close(), lastChangesMs);
  }
}
