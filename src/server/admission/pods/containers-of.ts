import type { Container, EphemeralContainer } from '../../../objects/apis/core/v1/container.types.js';
import type { PodSpec } from '../../../objects/apis/core/v1/pod-spec.types.js';

/** A container of any of the three lists of a pod. */
export type AnyContainer = Container | EphemeralContainer;

/** All containers of a pod in the order they are started: init containers, containers, ephemeral ones. */
export function* containersOf(spec: PodSpec): Generator<AnyContainer> {
  yield* spec.initContainers ?? [];
  yield* spec.containers ?? [];
  yield* spec.ephemeralContainers ?? [];
}
