import { dig, entriesAt, listAt, textAt } from './dig.js';
import { containerState } from './pod-state.js';
import { type Tone, toneOfCondition } from './status.js';

/** An object that a text leads to. The group is without the vendor's suffix. */
export interface Target {
  readonly group: string;
  readonly resource: string;
  /** Empty for objects in no namespace. */
  readonly namespace: string;
  readonly name: string;
}

/** A text of a summary, with a status or a link. */
export interface Value {
  readonly text: string;
  readonly tone?: Tone | undefined;
  readonly to?: Target | undefined;
  readonly isCode?: boolean;
}

export interface Detail {
  readonly label: string;
  readonly values: readonly Value[];
}

/** A part of the summary of an object: details, or a table. */
export type Section =
  | { readonly title: string; readonly details: readonly Detail[] }
  | {
      readonly title: string;
      readonly titles: readonly string[];
      readonly rows: readonly (readonly (readonly Value[])[])[];
    };

export function plain(text: string): readonly Value[] {
  return text === '' ? [] : [{ text }];
}

export function code(text: string): readonly Value[] {
  return text === '' ? [] : [{ text, isCode: true }];
}

/** A detail, or none where there is nothing to say. */
export function detail(label: string, values: readonly Value[]): readonly Detail[] {
  return values.length === 0 ? [] : [{ label, values }];
}

export function link(group: string, resource: string, namespace: string, name: string): readonly Value[] {
  return name === '' ? [] : [{ text: name, to: { group, resource, namespace, name } }];
}

/** A table, or nothing without rows. */
export function table(
  title: string,
  titles: readonly string[],
  rows: readonly (readonly (readonly Value[])[])[],
): readonly Section[] {
  return rows.length === 0 ? [] : [{ title, titles, rows }];
}

export function details(title: string, each: readonly Detail[]): readonly Section[] {
  return each.length === 0 ? [] : [{ title, details: each }];
}

/** The conditions of any object. */
export function conditionSection(object: unknown): readonly Section[] {
  const rows = listAt(object, 'status', 'conditions').map((each) => {
    const [type, status] = [textAt(each, 'type'), textAt(each, 'status')];
    return [
      [{ text: `${type}: ${status}`, tone: toneOfCondition(type, status) }],
      plain(textAt(each, 'reason')),
      plain(textAt(each, 'message')),
    ];
  });
  return table('Conditions', ['Condition', 'Reason', 'Message'], rows);
}

/** `100m cpu, 128Mi memory`. */
export function amountsText(object: unknown, ...path: readonly string[]): string {
  return entriesAt(object, ...path)
    .map(([name, amount]) => `${amount} ${name}`)
    .join(', ');
}

/** The containers of a pod, or of the template of a workload: a section for each. */
export function containerSections(spec: unknown, statuses: readonly unknown[], namespace: string): readonly Section[] {
  const inits = listAt(spec, 'initContainers').map((each) => ({ each, kind: 'Init container' }));
  const regular = listAt(spec, 'containers').map((each) => ({ each, kind: 'Container' }));
  const extra = listAt(spec, 'ephemeralContainers').map((each) => ({ each, kind: 'Ephemeral container' }));
  return [...regular, ...inits, ...extra].flatMap(({ each, kind }) => {
    const name = textAt(each, 'name');
    const status = statuses.find((one) => textAt(one, 'name') === name);
    return details(`${kind} ${name}`, [...stateFacts(status), ...containerFacts(each, namespace)]);
  });
}

function stateFacts(status: unknown): readonly Detail[] {
  if (status === undefined) return [];
  const { word, tone, why, restarts } = containerState(status);
  return [
    ...detail('State', [{ text: word, tone }, ...plain(why)]),
    ...(restarts > 0 ? detail('Restarts', plain(String(restarts))) : []),
  ];
}

function containerFacts(container: unknown, namespace: string): readonly Detail[] {
  const ports = listAt(container, 'ports').map((port) =>
    [textAt(port, 'name'), textAt(port, 'containerPort')].filter(Boolean).join(' '),
  );
  const command = [...listAt(container, 'command'), ...listAt(container, 'args')].map(String).join(' ');
  return [
    ...detail('Image', code(textAt(container, 'image'))),
    ...detail('Ports', plain(ports.join(', '))),
    ...detail('Requests', plain(amountsText(container, 'resources', 'requests'))),
    ...detail('Limits', plain(amountsText(container, 'resources', 'limits'))),
    ...detail('Reads', references(container, namespace)),
    ...detail('Command', code(command)),
  ];
}

/** The config maps and secrets that a container reads as variables. */
function references(container: unknown, namespace: string): readonly Value[] {
  const found = new Map<string, Value>();
  const add = (resource: string, name: string) => {
    for (const value of link('', resource, namespace, name)) found.set(`${resource}/${name}`, value);
  };
  for (const from of listAt(container, 'envFrom')) {
    add('configmaps', textAt(from, 'configMapRef', 'name'));
    add('secrets', textAt(from, 'secretRef', 'name'));
  }
  for (const variable of listAt(container, 'env')) {
    add('configmaps', textAt(variable, 'valueFrom', 'configMapKeyRef', 'name'));
    add('secrets', textAt(variable, 'valueFrom', 'secretKeyRef', 'name'));
  }
  return [...found.values()];
}

/** The volumes of a pod or a template, with links to what they come from. */
export function volumeSection(spec: unknown, namespace: string): readonly Section[] {
  const rows = listAt(spec, 'volumes').map((volume) => {
    const source = Object.keys((typeof volume === 'object' && volume) || {}).find((key) => key !== 'name') ?? '';
    const from = [
      ...link('', 'configmaps', namespace, textAt(volume, 'configMap', 'name')),
      ...link('', 'secrets', namespace, textAt(volume, 'secret', 'secretName')),
      ...link('', 'persistentvolumeclaims', namespace, textAt(volume, 'persistentVolumeClaim', 'claimName')),
      ...listAt(volume, 'projected', 'sources').flatMap((each) => [
        ...link('', 'configmaps', namespace, textAt(each, 'configMap', 'name')),
        ...link('', 'secrets', namespace, textAt(each, 'secret', 'name')),
      ]),
    ];
    return [plain(textAt(volume, 'name')), plain(source), from];
  });
  return table('Volumes', ['Name', 'Kind', 'From'], rows);
}

/** Owners, as links. The server's kinds say which resource a reference means. */
export interface OwnerText {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
}

export function ownersOf(object: unknown): readonly OwnerText[] {
  return listAt(object, 'metadata', 'ownerReferences').map((each) => ({
    apiVersion: textAt(each, 'apiVersion'),
    kind: textAt(each, 'kind'),
    name: textAt(each, 'name'),
  }));
}

/** The label selector of a workload or a service as a text; empty where it selects nothing, or by rules of its own. */
export function selectorText(resource: string, object: unknown): string {
  const selector = dig(object, 'spec', 'selector');
  if (resource === 'services' || resource === 'replicationcontrollers') {
    return entriesAt(selector)
      .map(([key, value]) => `${key}=${value}`)
      .join(',');
  }
  const equal = entriesAt(selector, 'matchLabels').map(([key, value]) => `${key}=${value}`);
  const others = listAt(selector, 'matchExpressions').map((each) => {
    const [key, operator] = [textAt(each, 'key'), textAt(each, 'operator')];
    const values = listAt(each, 'values').map(String).join(',');
    if (operator === 'In') return `${key} in (${values})`;
    if (operator === 'NotIn') return `${key} notin (${values})`;
    return operator === 'Exists' ? key : `!${key}`;
  });
  return [...equal, ...others].join(',');
}
