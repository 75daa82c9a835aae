/** Kinds that people call otherwise than the API does. */
const saidAs: Readonly<Record<string, string>> = {
  horizontalpodautoscalers: 'Autoscalers',
  poddisruptionbudgets: 'Disruption budgets',
  persistentvolumeclaims: 'Volume claims',
  persistentvolumes: 'Volumes',
  customresourcedefinitions: 'Definitions',
  certificatesigningrequests: 'Certificate requests',
  prioritylevelconfigurations: 'Priority levels',
  validatingwebhookconfigurations: 'Validating webhooks',
  mutatingwebhookconfigurations: 'Mutating webhooks',
  validatingadmissionpolicies: 'Validating policies',
  mutatingadmissionpolicies: 'Mutating policies',
  validatingadmissionpolicybindings: 'Validating policy bindings',
  mutatingadmissionpolicybindings: 'Mutating policy bindings',
  replicationcontrollers: 'Replication controllers',
  csistoragecapacities: 'CSI capacities',
  apiservices: 'API services',
};

/** The words of a kind's name; abbreviations stay together: `HTTPRoute` has the words `HTTP` and `Route`. */
function wordsOf(kind: string): readonly string[] {
  return kind.match(/[A-Z]+(?![a-z])|[A-Z][^A-Z]*|[^A-Z]+/g) ?? [kind];
}

interface KindNames {
  readonly kind: string;
  readonly resource: string;
}

/** A kind in the plural, as people say it: `Stateful sets`, `HTTP routes`. */
export function titleOfKind({ kind, resource }: KindNames): string {
  const said = Object.hasOwn(saidAs, resource) ? saidAs[resource] : undefined;
  if (said !== undefined) return said;
  const words = wordsOf(kind);
  const before = words.slice(0, -1);
  const start = before.join('').length;
  const isRegular = resource.startsWith(kind.slice(0, -1).toLowerCase());
  if (!isRegular) return capital(resource);
  const last = resource.slice(start);
  const abbreviation = words.at(-1) ?? '';
  const end = /^[A-Z]{2,}$/.test(abbreviation) ? abbreviation + last.slice(abbreviation.length) : last;
  return capital([...before.map(spoken), end].join(' '));
}

/** One object of a kind, as people say it: `Stateful set`. */
export function nounOfKind(kind: string): string {
  return capital(wordsOf(kind).map(spoken).join(' '));
}

function spoken(word: string): string {
  return /^[A-Z]{2,}$/.test(word) ? word : word.toLowerCase();
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
