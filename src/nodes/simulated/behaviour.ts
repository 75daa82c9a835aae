import { canonicalQuantity } from '../../base/machinery/values/quantity.js';

/** Prefix of the annotations of pods that set what their containers do (`docs/simulated-nodes.md`). */
export const behaviourPrefix = 'sim.plinth.dev/';

/** What a simulated container does. Times are in milliseconds. */
export interface Behaviour {
  /** The time from when it is the container's turn until it runs. */
  readonly startMs: number;
  /** The time from the start of a run until the container is ready; undefined: never. */
  readonly readyMs: number | undefined;
  /** How long a run takes; undefined: until it is stopped. */
  readonly runMs: number | undefined;
  /** The exit code of a run that ends by itself. */
  readonly exitCode: number;
  /** How many runs end with that code before all later runs end with 0; undefined: all of them. */
  readonly failTimes: number | undefined;
  /** How long the container's `preStop` hook takes, which runs before the container is asked to stop. */
  readonly preStopMs: number;
  /** How long the container takes to stop when it is asked to. */
  readonly stopMs: number;
  /** Whether the image can't be fetched. */
  readonly failsImage: boolean;
  /** The lines that the container writes at the start of each run; undefined: some that describe the run. */
  readonly logs: string | undefined;
  /** How often the container writes these lines again; undefined: never. */
  readonly logEveryMs: number | undefined;
  /** The CPU that the container pretends to use, as a quantity; undefined: hardly any. */
  readonly cpu: string | undefined;
  readonly memory: string | undefined;
}

/** The fields of a probe that are used. */
interface ReadProbe {
  readonly initialDelaySeconds?: number;
}

/** The fields of a hook that are used. */
interface ReadHook {
  readonly sleep?: { readonly seconds?: number };
  readonly exec?: { readonly command?: readonly string[] };
}

/** The fields of a container that are used. */
export interface ReadContainer {
  readonly name: string;
  readonly image?: string;
  readonly restartPolicy?: string;
  readonly readinessProbe?: ReadProbe;
  readonly startupProbe?: ReadProbe;
  readonly lifecycle?: { readonly postStart?: ReadHook; readonly preStop?: ReadHook };
  readonly resources?: { readonly requests?: Readonly<Record<string, string>> };
}

/** The purpose of a container. A sidecar is an init container that keeps running. */
export type SimulatedRole = 'init' | 'sidecar' | 'app' | 'ephemeral';

/** Containers that are expected to end by themselves run for this long. */
const taskMs = 1000;

/** An image that no registry has: `bad:1`, `registry.example.com/bad`. */
const badImage = /(^|\/)bad(:|@|$)/;

/**
 * What a container does, by the annotations of its pod. `<prefix>run-seconds` is for all regular containers of the pod,
 * `<prefix>run-seconds.<container>` for one of any role and wins. A value that can't be read counts as missing.
 *
 * @param endsBySelf whether the container is of a pod that is meant to end, unless the annotations say otherwise
 */
export function behaviourOf(
  annotations: Readonly<Record<string, string>>,
  container: ReadContainer,
  role: SimulatedRole,
  endsBySelf: boolean,
): Behaviour {
  const own = (name: string) => annotations[`${behaviourPrefix}${name}.${container.name}`];
  const text = (name: string) => own(name) ?? (role === 'app' ? annotations[`${behaviourPrefix}${name}`] : undefined);
  const milliseconds = (name: string) => readNumber(text(name), 1000);
  const runs = text('run-seconds') === 'forever' ? 'forever' : milliseconds('run-seconds');
  const readyText = text('ready-after');
  const { readinessProbe, startupProbe } = container;
  const probedMs = 1000 * Math.max(readinessProbe?.initialDelaySeconds ?? 0, startupProbe?.initialDelaySeconds ?? 0);
  const failImage = text('fail-image');
  const defaultRunMs = role === 'init' ? 0 : role === 'app' && endsBySelf ? taskMs : undefined;
  return {
    // A container counts as running when its first hook is over.
    startMs: (milliseconds('start-seconds') ?? 0) + hookMs(container.lifecycle?.postStart),
    readyMs: readyText === 'never' ? undefined : (milliseconds('ready-after') ?? probedMs),
    runMs: runs === 'forever' ? undefined : (runs ?? defaultRunMs),
    exitCode: readNumber(text('exit-code'), 1, 255) ?? 0,
    failTimes: readNumber(text('fail-times'), 1),
    preStopMs: hookMs(container.lifecycle?.preStop),
    stopMs: milliseconds('stop-seconds') ?? 0,
    failsImage: failImage === undefined ? badImage.test(container.image ?? '') : failImage === 'true',
    logs: text('logs'),
    logEveryMs: milliseconds('log-every') || undefined,
    cpu: readQuantity(text('cpu')) ?? readQuantity(container.resources?.requests?.cpu),
    memory: readQuantity(text('memory')) ?? readQuantity(container.resources?.requests?.memory),
  };
}

/** How long it takes until resized containers have their new resources, by `<prefix>resize-seconds`. */
export function resizeMsOf(annotations: Readonly<Record<string, string>>): number {
  return readNumber(annotations[`${behaviourPrefix}resize-seconds`], 1000) ?? 0;
}

/** `sleep 5`, alone or in a script. */
const sleepCommand = /(?:^|[\s;&|(/])sleep\s+(\d{1,9}(?:\.\d{1,3})?)(?=$|[\s;&|)])/g;

/** How long a hook takes: the time it sleeps, as an action or by commands; everything else takes no time. */
function hookMs({ sleep, exec }: ReadHook = {}): number {
  if (sleep !== undefined) return 1000 * Math.max(0, sleep.seconds ?? 0);
  const text = (exec?.command ?? []).join(' ');
  let seconds = 0;
  for (const [, amount] of text.matchAll(sleepCommand)) seconds += Number(amount);
  return Math.round(1000 * seconds);
}

/** The canonical form of a quantity that is not negative. */
function readQuantity(text: string | undefined): string | undefined {
  if (text === undefined || text.length > 64) return undefined;
  try {
    const quantity = canonicalQuantity(text);
    return quantity.startsWith('-') ? undefined : quantity;
  } catch {
    return undefined;
  }
}

/** A whole number of units that is not negative. */
function readNumber(text: string | undefined, unit: number, most = Number.MAX_SAFE_INTEGER): number | undefined {
  if (text === undefined || !/^\d{1,9}(\.\d{1,3})?$/.test(text)) return undefined;
  const value = Math.round(Number(text) * unit);
  return value <= most ? value : undefined;
}
