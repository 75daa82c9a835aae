import { StepQueue } from '../../../base/machinery/step-queue.js';

/** Where this thread compiles the expressions of stored objects, however many arrive at once. */
export const compilations = new StepQueue();
