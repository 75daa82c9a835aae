import type { ApiObject } from '../../src/base/machinery/api-object.js';
import type { StoredPod } from '../../src/loops/controllers/frame/indexes.js';
import type { Event } from '../../src/objects/apis/core/v1/event.types.js';
import type { LoopScene } from './loop-scene.js';
import { PretendNode } from './pretend-node.js';

/** A namespace of a {@link LoopScene}, with a node of its own. */
export class Place {
  readonly node: PretendNode;

  private constructor(
    readonly scene: LoopScene,
    readonly namespace: string,
  ) {
    this.node = new PretendNode(scene, namespace);
  }

  /** Creates the namespace. */
  static async make(scene: LoopScene, namespace: string): Promise<Place> {
    await scene.create('namespaces', { metadata: { name: namespace } });
    return new Place(scene, namespace);
  }

  /**
   * Waits until `look` returns a result for the objects of a resource in the namespace, and resolves with that result.
   */
  until<T extends ApiObject, R>(
    resource: string,
    what: string,
    look: (objects: readonly T[]) => R | undefined | false,
  ): Promise<R> {
    return this.scene.until<T, R>(resource, what, (all) =>
      look(all.filter(({ metadata }) => metadata.namespace === this.namespace)),
    );
  }

  /** Waits until `look` accepts the pods; resolves with the pods, sorted by name. */
  pods(what: string, look: (pods: readonly StoredPod[]) => boolean): Promise<StoredPod[]> {
    return this.until<StoredPod, StoredPod[]>('pods', what, (pods) => look(pods) && sortedByName(pods));
  }

  /** Waits until `look` accepts the object; resolves with it. */
  one<T extends ApiObject>(resource: string, what: string, look: (object: T) => boolean | undefined): Promise<T> {
    return this.until<T, T>(resource, what, (objects) => objects.find(look));
  }

  /** Waits for at least `count` events with that reason; resolves with all of them. */
  events(reason: string, count = 1): Promise<(Event & ApiObject)[]> {
    return this.until<Event & ApiObject, (Event & ApiObject)[]>('events', `events ${reason}`, (events) => {
      const found = events.filter((event) => event.reason === reason);
      return found.length >= count && found;
    });
  }
}

function sortedByName<T extends ApiObject>(objects: readonly T[]): T[] {
  return objects.toSorted((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1));
}
