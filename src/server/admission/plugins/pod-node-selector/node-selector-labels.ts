import { isQualifiedName, isValidLabelValue } from '../../../../base/machinery/names.js';

/** Labels that a node must have. */
export type SelectorLabels = Readonly<Record<string, string>>;

/** More labels than a pod could need. Parsing must be quick, since it is done for every pod of the namespace. */
const maxLabels = 1000;

/** Reads up to 1,000 labels in the form `key=value,key=value`; undefined for any other string. */
export function parseNodeLabels(text: string): SelectorLabels | undefined {
  const labels: Record<string, string> = {};
  if (text.trim() === '') return labels;
  const parts = text.split(',', maxLabels + 1);
  if (parts.length > maxLabels) return undefined;
  for (const part of parts) {
    const [key = '', value, ...more] = part.split('=').map((each) => each.trim());
    if (value === undefined || more.length > 0) return undefined;
    if (isQualifiedName(key).length > 0 || isValidLabelValue(value).length > 0) return undefined;
    labels[key] = value;
  }
  return labels;
}

/** Whether `a` and `b` require different values of the same label. */
export function contradict(a: SelectorLabels, b: SelectorLabels): boolean {
  return Object.keys(a).some((key) => Object.hasOwn(b, key) && a[key] !== b[key]);
}

/** Whether all of `labels` are among `allowed`. */
export function isAmong(labels: SelectorLabels, allowed: SelectorLabels): boolean {
  return Object.keys(labels).every((key) => Object.hasOwn(allowed, key) && allowed[key] === labels[key]);
}
