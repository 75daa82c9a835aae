import { ContainerRun } from './container-run.js';
import type { PodPlan } from './pod-plan.js';

/** Why a pod ended, apart from its containers. */
export interface SimulatedPodEnd {
  readonly reason: string;
  readonly message: string;
}

/** The readable state of a pod, from which its status is made. */
export interface PodState {
  readonly plan: PodPlan;
  readonly inits: readonly ContainerRun[];
  readonly apps: readonly ContainerRun[];
  readonly isInitialized: boolean;
  readonly hasFailedInit: boolean;
  readonly isStopping: boolean;
  readonly end: SimulatedPodEnd | undefined;
}
