/** How long nodes may keep what they read, in seconds, by the number of nodes. The ranges of numbers overlap. */
const steps = [
  { least: 0, most: 100, seconds: 0 },
  { least: 90, most: 500, seconds: 15 },
  { least: 450, most: 1000, seconds: 30 },
  { least: 900, most: 2000, seconds: 60 },
  { least: 1800, most: Number.POSITIVE_INFINITY, seconds: 300 },
] as const;

/** The number of steps. */
export const stepCount = steps.length;

/** The value recorded on nodes at a step, in seconds. */
export function secondsAt(step: number): number {
  return (steps[step] ?? steps[0]).seconds;
}

/** The step with these seconds; undefined when there is none. */
export function stepOf(seconds: number): number | undefined {
  const found = steps.findIndex((step) => step.seconds === seconds);
  return found < 0 ? undefined : found;
}

/** The step for a number of nodes, coming from another step: a step stays as long as the number is within its range. */
export function nextStep(step: number, nodes: number): number {
  let next = step;
  while (nodes > (steps[next] ?? steps[0]).most) next++;
  while (nodes < (steps[next] ?? steps[0]).least) next--;
  return next;
}
