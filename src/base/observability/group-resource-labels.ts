/** The labels of a resource that is named as in `deployments.apps`. */
export function groupResourceLabels(name: string): { group: string; resource: string } {
  const dot = name.indexOf('.');
  return dot < 0 ? { group: '', resource: name } : { group: name.slice(dot + 1), resource: name.slice(0, dot) };
}
