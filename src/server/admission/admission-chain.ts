import type { OnApplicationShutdown } from '@nestjs/common';
import { currentSpan, traced } from '../../base/observability/trace-scope.js';
import type { AdmissionMetrics, AdmissionPhase, AdmissionSeries } from './admission-metrics.js';
import type { AdmissionPlugin } from './admission-plugin.js';
import type { AdmissionAttributes, AdmissionOperation } from './attributes.js';

/** A plugin in one phase, with its metric series. */
interface Step {
  readonly plugin: string;
  readonly run: (attributes: AdmissionAttributes) => Promise<void> | void;
  readonly series: AdmissionSeries;
}

interface Phase {
  readonly steps: Readonly<Record<AdmissionOperation, readonly Step[]>>;
  readonly series: AdmissionSeries;
}

/**
 * The plugins in their fixed order: all mutating ones first, then all validating ones. The first refusal ends the
 * chain.
 */
export class AdmissionChain implements OnApplicationShutdown {
  private readonly phases: Readonly<Record<AdmissionPhase, Phase>>;

  constructor(
    private readonly plugins: readonly AdmissionPlugin[],
    metrics: AdmissionMetrics,
  ) {
    this.phases = { admit: phaseOf('admit', plugins, metrics), validate: phaseOf('validate', plugins, metrics) };
  }

  /** The mutating phase, with its second round if a plugin requests one. */
  async admit(attributes: AdmissionAttributes): Promise<void> {
    await run(this.phases.admit, attributes);
    if (attributes.reinvocation.begin()) await run(this.phases.admit, attributes);
  }

  validate(attributes: AdmissionAttributes): Promise<void> {
    return run(this.phases.validate, attributes);
  }

  /** Runs before the objects of a namespace are deleted. */
  async admitCollection(namespace: string): Promise<void> {
    for (const plugin of this.plugins) await plugin.admitCollection?.(namespace);
  }

  /** Aborts the plugins' work in progress, and closes their connections. */
  onApplicationShutdown(): void {
    for (const plugin of this.plugins) plugin.stop?.();
  }
}

function phaseOf(name: AdmissionPhase, plugins: readonly AdmissionPlugin[], metrics: AdmissionMetrics): Phase {
  const all = plugins.flatMap((plugin) => {
    const own: Step['run'] | undefined = plugin[name]?.bind(plugin);
    return own === undefined
      ? []
      : [{ plugin, step: { plugin: plugin.name, run: own, series: metrics.ofPlugin(plugin.name, name) } }];
  });
  const stepsOf = (operation: AdmissionOperation) =>
    all.filter(({ plugin }) => plugin.handles(operation)).map(({ step }) => step);
  const steps = {
    CREATE: stepsOf('CREATE'),
    UPDATE: stepsOf('UPDATE'),
    DELETE: stepsOf('DELETE'),
    CONNECT: stepsOf('CONNECT'),
  };
  return { steps, series: metrics.ofPhase(name) };
}

function tracedStep(plugin: string, step: Step['run'], attributes: AdmissionAttributes): Promise<void> {
  return traced(`admission ${plugin}`, { operation: attributes.operation }, async () => step(attributes));
}

async function run(phase: Phase, attributes: AdmissionAttributes): Promise<void> {
  const { operation } = attributes;
  const begin = performance.now();
  // The time of a step is measured from the end of the previous step, so each step reads the clock once.
  let last = begin;
  let isRejected = true;
  let current: AdmissionSeries | undefined;
  const count = () => {
    const now = performance.now();
    current?.[operation](isRejected).observe((now - last) / 1000);
    last = now;
  };
  try {
    const span = currentSpan();
    for (const { plugin, run: step, series } of phase.steps[operation]) {
      isRejected = true;
      current = series;
      const running = span === undefined ? step(attributes) : tracedStep(plugin, step, attributes);
      if (running !== undefined) await running;
      isRejected = false;
      count();
    }
    isRejected = false;
  } finally {
    if (isRejected) count();
    phase.series[operation](isRejected).observe((last - begin) / 1000);
    attributes.context.mark?.('admission');
  }
}
