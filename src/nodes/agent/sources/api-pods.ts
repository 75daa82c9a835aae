import { decode } from '../../../base/machinery/schema/index.js';
import type { Timers } from '../../../base/machinery/timers.js';
import type { Logger } from '../../../base/observability/logger.js';
import { type Pod, pod as podType } from '../../../objects/apis/core/v1/pod.types.js';
import type { ApiUser } from '../../connection/api-connection.js';
import { watchPods } from '../../connection/pod-watch.js';
import type { PodManager } from '../pod-manager.js';
import type { MirrorPods } from './mirror-pods.js';

export interface ApiPodsDependencies {
  readonly api: ApiUser;
  readonly nodeName: string;
  readonly manager: PodManager;
  readonly mirrors: MirrorPods;
  /** Called with all pods of the node after each list. */
  readonly onListed: () => void;
  readonly timers: Timers;
  readonly random: () => number;
  readonly logger: Logger;
}

/** Watches the pods of the node in the API until the abort. Passes mirrors of static pods to a separate handler. */
export async function followApiPods(dependencies: ApiPodsDependencies, signal: AbortSignal): Promise<void> {
  const { api, nodeName, manager, mirrors, onListed, timers, random, logger } = dependencies;
  const own = new Set<string>();
  await watchPods(
    {
      ...{ api, logger, random, timers },
      node: nodeName,
      known: () => own,
      onPod: (object) => {
        const pod = readPod(object);
        const uid = pod?.metadata.uid;
        if (pod === undefined || uid === undefined) return;
        own.add(uid);
        if (mirrors.isMirror(pod)) mirrors.seen(pod);
        else manager.want(pod);
      },
      onGone: (uid) => {
        own.delete(uid);
        mirrors.gone(uid);
        manager.drop(uid);
      },
      onListed: () => {
        mirrors.listed();
        onListed();
      },
    },
    signal,
  );
}

/** The pod in canonical form; undefined for an object that is not a pod. */
function readPod(object: unknown): Pod | undefined {
  try {
    return decode(podType, object).value;
  } catch {
    return undefined;
  }
}
