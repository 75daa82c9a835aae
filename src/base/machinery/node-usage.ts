/** Measured use of a machine's resources. */
export interface Usage {
  /** In billionths of a CPU. */
  readonly cpuNanoCores: number;
  readonly memoryBytes: number;
  /** End of the measurement, in milliseconds since the epoch. */
  readonly at: number;
  /** Length of the measurement. */
  readonly windowMs: number;
}

/** Resource usage on one node, as its agent reports it. */
export interface MeasuredNode {
  readonly total: Usage | undefined;
  /** Containers by {@link containerKey}. The names come from the agent and are not checked. */
  readonly containers: ReadonlyMap<string, Usage>;
}

/** The parts of a node that are needed to reach its agent. */
export interface MeasurableNode {
  readonly metadata: { readonly name?: string };
  readonly status?: object;
}

/** Measures nodes on request. */
export interface NodeUsage {
  /** Usage by node name; nodes whose agents do not answer are left out. */
  of(nodes: readonly MeasurableNode[], signal: AbortSignal): Promise<ReadonlyMap<string, MeasuredNode>>;
}

export function containerKey(namespace: string, pod: string, container: string): string {
  return `${namespace}/${pod}/${container}`;
}

/** Injection token of the {@link NodeUsage}; processes that do not reach nodes have none. */
export const NODE_USAGE = Symbol('NodeUsage');
