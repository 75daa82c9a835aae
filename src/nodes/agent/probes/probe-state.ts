import type { Probe } from '../../../objects/apis/core/v1/probe.types.js';

export type ProbeKind = 'Startup' | 'Liveness' | 'Readiness';

/** The verdict of a probe about one run of a container. */
export type ProbeVerdict = 'success' | 'failure' | 'unknown';

/**
 * Counts the results of one probe of one run. The verdict changes after as many equal results in a row as the probe's
 * threshold. Before the first check, startup and readiness count as failed, and liveness as passed.
 */
export class ProbeState {
  private row: { result: 'success' | 'failure'; count: number } | undefined;

  constructor(
    private readonly probe: Pick<Probe, 'failureThreshold' | 'successThreshold'>,
    public verdict: ProbeVerdict,
  ) {}

  static initial(kind: ProbeKind): ProbeVerdict {
    return kind === 'Liveness' ? 'success' : kind === 'Readiness' ? 'failure' : 'unknown';
  }

  /** Records a result. Returns whether the verdict has changed. */
  take(result: 'success' | 'failure'): boolean {
    if (this.row?.result === result) this.row.count += 1;
    else this.row = { result, count: 1 };
    const { failureThreshold = 3, successThreshold = 1 } = this.probe;
    const needed = result === 'success' ? successThreshold : failureThreshold;
    if (this.row.count < needed || this.verdict === result) return false;
    this.verdict = result;
    return true;
  }
}
