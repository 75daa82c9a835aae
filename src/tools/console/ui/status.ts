/** How things stand. Each has a shape and a colour, and is always beside a text. */
export type Tone = 'good' | 'busy' | 'warn' | 'bad' | 'idle';

const good =
  /^(?:Running|Ready|Bound|Active|Available|Approved(?:,Issued)?|Healthy|Established|Succeeded|Normal|Current)$/i;
const idle = /^(?:Completed?|Complete|Released|Suspended|Terminated|<none>|Paused)$/i;
const busy =
  /^(?:Pending|ContainerCreating|PodInitializing|Init:\d+\/\d+|Terminating|Progressing|Reconciling|Released|SchedulingGated|Waiting)$/i;
const warn = /^(?:Warning|NotReady|Unknown|Lost|.*,SchedulingDisabled|Degraded|Condition|Ready,SchedulingDisabled)$/i;
const bad =
  /^(?:Error|Failed|Evicted|OOMKilled|CrashLoopBackOff|ImagePullBackOff|ErrImagePull|InvalidImageName|NodeLost|Denied|Rejected|FailureTarget|DeadlineExceeded|.*Error|.*BackOff|Init:.*|Create.*Error|NotFound|UnexpectedAdmissionError|ExitCode:\d+|Signal:\d+)$/i;

/** Whether a word of a status column is good or bad; undefined for a word that is neither. */
export function toneOfWord(word: string): Tone | undefined {
  if (good.test(word)) return 'good';
  if (idle.test(word)) return 'idle';
  if (busy.test(word)) return 'busy';
  if (warn.test(word)) return 'warn';
  return bad.test(word) ? 'bad' : undefined;
}

/** How `2/3` is to be read: all, none or a part of what there should be. */
export function toneOfShare(share: string): Tone | undefined {
  const parts = /^(\d+)\/(\d+)$/.exec(share);
  if (parts === null) return undefined;
  const [have, want] = [Number(parts[1]), Number(parts[2])];
  if (want === 0) return 'idle';
  if (have >= want) return 'good';
  return have === 0 ? 'bad' : 'warn';
}

const wordColumns: ReadonlySet<string> = new Set(['Status', 'Phase', 'State', 'Type', 'Condition', 'Health']);
const shareColumns: ReadonlySet<string> = new Set(['Ready', 'Replicas']);

/**
 * How a cell of a table is to be read; undefined for cells without a status.
 *
 * @param resource the kind of the rows: types are a status of events only
 * @param others the other cells by column: a pod that has ended need not be ready
 */
export function toneOfCell(
  resource: string,
  column: string,
  text: string,
  others: (column: string) => string,
): Tone | undefined {
  if (column === 'Type' && resource !== 'events') return undefined;
  if (resource === 'pods' && column === 'Status' && text === 'Running') {
    return toneOfShare(others('Ready')) === 'good' ? 'good' : 'warn';
  }
  if (wordColumns.has(column)) return toneOfWord(text);
  if (column === 'Ready' && /^(?:True|False|Unknown)$/.test(text)) {
    return text === 'True' ? 'good' : text === 'False' ? 'bad' : 'warn';
  }
  if (resource === 'apiservices' && column === 'Available') return text === 'True' ? 'good' : 'bad';
  if (!shareColumns.has(column)) return undefined;
  const tone = toneOfShare(text);
  if (resource !== 'pods' || tone === 'good') return tone;
  const status = toneOfWord(others('Status'));
  return status === 'idle' ? 'idle' : status === 'busy' ? 'busy' : tone;
}

/** How a condition is to be read: some are good when they are false. */
export function toneOfCondition(type: string, status: string): Tone {
  if (status === 'Unknown') return 'warn';
  const isBadWhenTrue =
    /Pressure$|Unavailable$|Fail|Error|Denied|Degraded|Stalled|Terminating|Disrupt|Resize|NamesConflict|NonStructural/.test(
      type,
    );
  if (type === 'Progressing' || type === 'Suspended' || type === 'Complete') return status === 'True' ? 'good' : 'warn';
  if (isBadWhenTrue) return status === 'True' ? 'bad' : 'idle';
  return status === 'True' ? 'good' : 'warn';
}
